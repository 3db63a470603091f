"""Original against compiled model, sample by sample; over tolerance nothing ships."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from packager import models
from packager.errors import ConfigError, ModelError, ParityError
from packager.parity import samples
from packager.parity.metrics import Difference, difference
from packager.parity.settings import ParitySettings
from packager.runners import RUNNERS, Outcome, Runnable, Runner
from packager.values import Compiled, Model, OutputError, Parity, TensorSpec

if TYPE_CHECKING:
    import numpy


def check(compiled: Compiled, settings: ParitySettings, folder: Path) -> tuple[Parity, ...]:
    """One Parity per runner of `settings`; files go below `folder`, an existing scratch folder.

    Raises ParityError when an output is over tolerance or a required runner cannot run, ModelError when the original
    model does not run on the samples, ConfigError when given samples do not fit the model.
    """
    model = compiled.variant.model
    chosen, expected = _reference(model, settings, folder)
    unstable = _unstable_outputs(model, chosen, expected, folder)
    return tuple(
        _check_runner(RUNNERS[name](), compiled, settings, chosen, expected, unstable, folder / name)
        for name in dict.fromkeys((*settings.runners, *settings.require))
    )


def _reference(model: Model, settings: ParitySettings, folder: Path) -> tuple[samples.SampleSet, tuple[Outcome, ...]]:
    """The samples that the original model accepts, and its outputs on them."""
    runnable = _original(model, folder)
    candidates = (
        iter([samples.given(model, settings)])
        if settings.samples
        else samples.random_candidates(model, settings, folder)
    )
    refusal = ""
    for candidate in candidates:
        outcomes = RUNNERS["cpu"]().run(runnable, candidate.paths, _made(folder / "original"))
        refused = next((outcome.error for outcome in outcomes if outcome.error), "")
        if not refused:
            return candidate, outcomes
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


def _original(model: Model, folder: Path) -> Runnable:
    graph = folder / "original.onnx"
    graph.write_bytes(model.graph)
    return Runnable(path=graph, data_folder=models.data_folder(model.path), is_optimized=False)


def _unstable_outputs(
    model: Model, chosen: samples.SampleSet, expected: Sequence[Outcome], folder: Path
) -> frozenset[int]:
    """Outputs of a model with random operators that differ between two runs of the original: no use comparing them."""
    if not any("random numbers" in note for note in model.notes):
        return frozenset()
    again = RUNNERS["cpu"]().run(_original(model, folder), chosen.paths, _made(folder / "again"))
    return frozenset(
        index
        for index in range(len(model.signature.outputs))
        if any(_difference(a, b, index).max_abs_error for a, b in zip(expected, again, strict=True))
    )


def _check_runner(
    runner: Runner,
    compiled: Compiled,
    settings: ParitySettings,
    chosen: samples.SampleSet,
    expected: Sequence[Outcome],
    unstable: frozenset[int],
    folder: Path,
) -> Parity:
    model = compiled.variant.model
    missing = runner.missing()
    if missing and runner.NAME in settings.require:
        raise ParityError(
            f"runner '{runner.NAME}' is required and cannot run: {missing}",
            hint="install it, or take it out of [parity] require",
        )
    outputs: tuple[OutputError, ...] = ()
    if not missing:
        actual = runner.run(Runnable(path=compiled.path), chosen.paths, _made(folder))
        outputs = _compare(model, chosen, expected, actual, unstable, settings.tolerance, compiled.variant.name)
    return Parity(
        model=model.name,
        variant=compiled.variant.name,
        runner=runner.NAME,
        sample_count=len(chosen.paths),
        samples=chosen.description,
        tolerance=settings.tolerance,
        outputs=outputs,
        skipped=missing,
        reshaped_outputs=tuple(
            spec.name for index, spec in enumerate(model.signature.outputs) if _is_reshaped(spec, expected, index)
        ),
        unstable_outputs=tuple(model.signature.outputs[index].name for index in sorted(unstable)),
    )


def _compare(
    model: Model,
    chosen: samples.SampleSet,
    expected: Sequence[Outcome],
    actual: Sequence[Outcome],
    unstable: frozenset[int],
    tolerance: float,
    variant: str,
) -> tuple[OutputError, ...]:
    for number, outcome in enumerate(actual):
        if outcome.error:
            raise ParityError(
                f"model '{model.name}' ({variant}): sample {number} ({chosen.description}) runs on the original "
                f"and fails on the compiled model: {outcome.error}",
                hint="report this model: conversion broke it",
            )
    errors = []
    for index, spec in enumerate(model.signature.outputs):
        if index in unstable:
            continue
        differences = [_difference(a, b, index) for a, b in zip(expected, actual, strict=True)]
        worst = max(range(len(differences)), key=lambda number: differences[number].max_rel_error)
        if differences[worst].max_rel_error > tolerance:
            raise _over_tolerance(
                model, spec, differences[worst], tolerance, f"sample {worst} of {chosen.description}", variant
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


def _over_tolerance(
    model: Model, spec: TensorSpec, worst: Difference, tolerance: float, sample: str, variant: str
) -> ParityError:
    what = worst.reason or (
        f"max abs error {worst.max_abs_error:.3g}, {worst.max_rel_error:.3g} of the output's largest value; "
        f"the tolerance is {tolerance:g}"
    )
    return ParityError(
        f"model '{model.name}' ({variant}): output '{spec.name}' differs from the original on {sample}: {what}",
        hint="nothing was written; check the model, or set [parity] tolerance if this error is acceptable",
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


def _made(folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    return folder
