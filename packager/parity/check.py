"""Original against compiled model, sample by sample; over tolerance nothing ships."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from packager.errors import ConfigError, ModelError, ParityError
from packager.parity.metrics import Difference, difference
from packager.parity.settings import ParitySettings
from packager.runners import RUNNERS, Outcome, Runnable, Runner
from packager.samples import SampleSet, given, random_candidates
from packager.values import Compiled, ElementType, Model, OutputError, Parity, Style, TensorSpec, Variant, own_numbers

FLOATS = (ElementType.FLOAT, ElementType.DOUBLE, ElementType.FLOAT16)

if TYPE_CHECKING:
    import numpy


@dataclass(frozen=True, kw_only=True)
class Reference:
    """What the original model computes, and on what."""

    samples: SampleSet
    outcomes: tuple[Outcome, ...]
    unstable: frozenset[int]
    """outputs that differ between two runs of the original: no use comparing them"""


class References:
    """What original models compute: each runs once, however many files are compared with it."""

    def __init__(self, folder: Path) -> None:
        """Samples and outputs go below `folder`, which must exist as long as they are used."""
        self.folder = folder
        self.known: dict[tuple[object, ...], Reference] = {}

    def of(self, original: Variant, settings: ParitySettings) -> Reference:
        """Raises ModelError when the model does not run on the samples, ConfigError when given ones do not fit it."""
        model = original.model
        which = (model.name, model.sha256, original.graph, original.weights)
        key = (*which, settings.samples, settings.random_samples, settings.seed)
        if key not in self.known:
            folder = self.folder / f"reference-{len(self.known)}"
            folder.mkdir(exist_ok=True)
            self.known[key] = _reference(original, settings, folder)
        return self.known[key]


def check(
    compiled: Compiled, settings: ParitySettings, folder: Path, references: References | None = None
) -> tuple[Parity, ...]:
    """One Parity per runner of `settings`; files go below `folder`, an existing scratch folder.

    Raises ParityError when an output is over tolerance or a required runner cannot run, ModelError when the original
    model does not run on the samples, ConfigError when given samples do not fit the model.
    """
    reference = (references or References(folder)).of(original_of(compiled), settings)
    names = dict.fromkeys((*settings.runners, *settings.require))
    found = tuple(_check_runner(RUNNERS[name](), compiled, reference, settings, folder / name) for name in names)
    if not is_own_original(compiled.variant):
        return found
    distance = _from_original(compiled.variant.model, reference, folder)
    return tuple(each if each.skipped else replace(each, from_original=distance) for each in found)


def is_own_original(variant: Variant) -> bool:
    """Whether the variant has other numbers than the model: those differ by the rounding that went or came, however
    right its file is."""
    return variant.weights is not None or variant.quantizer == "dequantized"


def original_of(compiled: Compiled) -> Variant:
    """What the file is compared with: the user's model, or the graph of other numbers that was made of it."""
    variant, model = compiled.variant, compiled.variant.model
    if is_own_original(variant):
        return variant
    return own_numbers(model)


def _against(variant: Variant) -> str:
    """What `original_of` gives, in words."""
    if not is_own_original(variant):
        return "the original"
    return "the float graph in it" if variant.quantizer == "dequantized" else "the quantized graph"


def _from_original(model: Model, reference: Reference, folder: Path) -> float:
    """How far the outcomes of `reference` are from those of the user's model on the same samples."""
    outcomes = _run_original(own_numbers(model), reference.samples, folder / "quantized")
    if refused := next((outcome.error for outcome in outcomes if outcome.error), ""):
        raise ParityError(
            f"model '{model.name}' fails on a sample that runs on the graph made of it: {refused}",
            hint="give inputs that it takes with [parity] samples",
        )
    distances = [
        _difference(before, after, index)
        for before, after in zip(outcomes, reference.outcomes, strict=True)
        for index, spec in enumerate(model.signature.outputs)
        if spec.element in FLOATS and index not in reference.unstable
    ]
    if incomparable := next((each.reason for each in distances if each.reason), ""):
        raise ParityError(
            f"the graph that was made of model '{model.name}' does not compute the same: {incomparable}",
            hint="report this model: changing its numbers broke it",
        )
    return max((each.max_rel_error for each in distances), default=0.0)


def _reference(original: Variant, settings: ParitySettings, folder: Path) -> Reference:
    """The first samples that the original accepts, and its outputs on them."""
    model = original.model
    candidates = (
        iter([given(model, settings.samples)])
        if settings.samples
        else random_candidates(model, folder, count=settings.random_samples, seed=settings.seed)
    )
    refusal = ""
    for candidate in candidates:
        outcomes = _run_original(original, candidate, folder / "original")
        refused = next((outcome.error for outcome in outcomes if outcome.error), "")
        if not refused:
            unstable = _unstable_outputs(original, candidate, outcomes, folder / "again")
            return Reference(samples=candidate, outcomes=outcomes, unstable=unstable)
        refusal = refusal or refused
    if settings.samples:
        raise ConfigError(
            f"[parity] samples: the original model '{model.name}' refuses them: {refusal}",
            hint="mobpack inspect shows the inputs it takes",
        )
    raise ModelError(
        f"the original model '{model.name}' runs on none of the random inputs tried: {refusal}",
        hint=f"give real inputs with [parity] samples, or fix the sizes in [model.{model.name}.shapes]",
    )


def _run_original(original: Variant, chosen: SampleSet, folder: Path) -> tuple[Outcome, ...]:
    folder.mkdir(exist_ok=True)
    graph = folder / "original.onnx"
    graph.write_bytes(original.graph)
    runnable = Runnable(path=graph, data_folder=original.data_folder, is_optimized=False)
    return RUNNERS["cpu"]().run(runnable, chosen.paths, folder)


def _unstable_outputs(original: Variant, chosen: SampleSet, first: Sequence[Outcome], folder: Path) -> frozenset[int]:
    if not original.model.random_operators:
        return frozenset()
    second = _run_original(original, chosen, folder)
    return frozenset(
        index
        for index in range(len(original.model.signature.outputs))
        if any(_difference(a, b, index).max_abs_error for a, b in zip(first, second, strict=True))
    )


def _check_runner(
    runner: Runner, compiled: Compiled, reference: Reference, settings: ParitySettings, folder: Path
) -> Parity:
    chip_only = "a binary for one chip" if compiled.style is Style.CONTEXT else ""
    missing = chip_only or runner.missing()
    if missing and not chip_only and runner.NAME in settings.require:
        raise ParityError(
            f"runner '{runner.NAME}' is required and cannot run: {missing}",
            hint="install it, or take it out of [parity] require",
        )
    errors: tuple[OutputError, ...] = ()
    if not missing:
        folder.mkdir(exist_ok=True)
        actual = runner.run(_runnable(compiled), reference.samples.paths, folder)
        errors = _compare(compiled, reference, actual, settings.tolerance)
    outputs = compiled.variant.model.signature.outputs
    return Parity(
        model=compiled.variant.model.name,
        variant=compiled.variant.name,
        against=_against(compiled.variant),
        style=compiled.style,
        sha256=compiled.sha256,
        runner=runner.NAME,
        sample_count=len(reference.samples.paths),
        samples=reference.samples.description,
        tolerance=settings.tolerance,
        outputs=errors,
        skipped=missing,
        reshaped_outputs=tuple(
            spec.name for index, spec in enumerate(outputs) if _is_reshaped(spec, reference.outcomes, index)
        ),
        unstable_outputs=tuple(outputs[index].name for index in sorted(reference.unstable)),
    )


def _runnable(compiled: Compiled) -> Runnable:
    return Runnable(path=compiled.path, needs_fp16=bool(compiled.processor), settings=compiled.settings)


def _compare(
    compiled: Compiled, reference: Reference, actual: Sequence[Outcome], tolerance: float
) -> tuple[OutputError, ...]:
    """The error of every output that can be compared; raises ParityError for the first that is over `tolerance`."""
    where = f"model '{compiled.variant.model.name}' ({compiled.variant.name}, {compiled.style})"
    for number, outcome in enumerate(actual):
        if outcome.error:
            raise ParityError(
                f"{where}: sample {number} of {reference.samples.description} runs on the original and fails on the "
                f"compiled model: {outcome.error}",
                hint="report this model: conversion broke it",
            )
    errors = []
    for index, spec in enumerate(compiled.variant.model.signature.outputs):
        if index in reference.unstable:
            continue
        differences = [_difference(a, b, index) for a, b in zip(reference.outcomes, actual, strict=True)]
        worst = max(range(len(differences)), key=lambda number: differences[number].max_rel_error)
        if differences[worst].max_rel_error > tolerance:
            raise ParityError(
                f"{where}: output '{spec.name}' differs from the original on sample {worst} of "
                f"{reference.samples.description}: {_in_words(differences[worst], tolerance)}",
                hint="nothing was written; check the model, or set [parity] tolerance if this error is acceptable",
            )
        errors.append(
            OutputError(
                output=spec.name,
                worst_sample=worst,
                max_rel_error=differences[worst].max_rel_error,
                max_abs_error=max(each.max_abs_error for each in differences),
            )
        )
    return tuple(errors)


def _in_words(worst: Difference, tolerance: float) -> str:
    return worst.reason or (
        f"max abs error {worst.max_abs_error:.3g}, {worst.max_rel_error:.3g} of the output's largest value; "
        f"the tolerance is {tolerance:g}"
    )


def _difference(expected: Outcome, actual: Outcome, index: int) -> Difference:
    return difference(_array(expected, index), _array(actual, index))


def _array(outcome: Outcome, index: int) -> "numpy.ndarray":
    import numpy

    assert outcome.outputs is not None
    with numpy.load(outcome.outputs) as arrays:
        array: numpy.ndarray = arrays[str(index)]
    return array


def _is_reshaped(spec: TensorSpec, expected: Sequence[Outcome], index: int) -> bool:
    """Whether the original itself returns another shape than it declares: exporters do write wrong ones."""
    shapes = [_array(outcome, index).shape for outcome in expected]
    return any(
        len(shape) != len(spec.shape)
        or any(isinstance(declared, int) and declared != real for declared, real in zip(spec.shape, shape, strict=True))
        for shape in shapes
    )
