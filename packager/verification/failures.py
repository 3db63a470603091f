"""Explains a failed comparison: the worst sample, both results, and the first node that differs."""

import math
import re
import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from packager.core.errors import MobpackError, ModelError, ToolError
from packager.core.findings import Failure, Parity
from packager.core.values import Model, Variant, baseline
from packager.engines.runners import RECORDED, RUNNERS, Outcome, Runnable, Runner
from packager.samples import write_arrays
from packager.verification import parity
from packager.verification.bisection import ErrorLimits, Side, bisect, condemned
from packager.verification.parity import CheckedParity, OriginalOutputs, ParitySettings, Reference, Subject, Tolerance
from packager.verification.parity.outcomes import array_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

VARIANT_HINT = (
    "look at the node: leave it in float (exclude of the quantizer), give better calibration samples, or set "
    "[parity] from-original if this distance is acceptable"
)
SEARCH_S = 300
"""Time limit of a build's search for the first node: emulated processors take seconds for one."""
NAME_BYTES = 120
"""Maximum length of a folder's name: file systems allow 255, and a number may follow."""
HINT = "nothing was released; check the model, or set [parity] tolerance if this error is acceptable"
RECORDED_HINT = "export the model again; [model.NAME.tolerance.OUTPUT] sets another tolerance for an output"
FORM_HINT = "nothing was released; report this model: no tolerance helps against another shape, type, NaN or infinity"
REFUSED_HINT = "nothing was released; report this model, or leave the runner out of [parity] runners and require"


@dataclass(frozen=True, kw_only=True)
class Case:
    """A comparison that failed."""

    subject: Subject
    runner: Runner
    checked: CheckedParity
    settings: ParitySettings

    @property
    def name(self) -> str:
        """Name of its folder."""
        variant, compiled = self.subject.variant, self.subject.compiled
        kind = [compiled.style, compiled.format, compiled.processor] if compiled else [self.subject.style]
        return file_name(variant.model.name, variant.name, *kind, self.runner.label())

    @property
    def variant(self) -> tuple[str, str]:
        """Model and name of its variant."""
        return self.subject.variant.model.name, self.subject.variant.name

    @property
    def output_names(self) -> list[str]:
        return [spec.name for spec in self.subject.variant.model.signature.outputs]


def file_name(*parts: str) -> str:
    name = re.sub(r"[^\w.-]+", "-", "-".join(filter(None, parts)))
    return name.encode()[:NAME_BYTES].decode(errors="ignore")


def new_folder(evidence: Path, name: str) -> Path:
    """A new folder below `evidence`: `name`, or `name-2` and so on if that is taken."""
    evidence.mkdir(parents=True, exist_ok=True)
    for number in count(1):
        folder = evidence / (name if number == 1 else f"{name}-{number}")
        try:
            folder.mkdir()
        except FileExistsError:
            continue
        return folder
    raise AssertionError("unreachable")


def explained(case: Case, references: OriginalOutputs, scratch: Path, evidence: Path) -> Failure:
    """The failure in words, with files that reproduce it in a new folder below `evidence`."""
    found = case.checked.parity
    folder = new_folder(evidence, case.name)
    reference = references.of(case.subject.original, case.settings)
    worst = case.checked.worst
    assert worst, "a stored comparison has not failed"
    names = case.output_names
    shutil.copyfile(worst.path, folder / "inputs.npz")
    is_recorded = case.runner.NAME == RECORDED
    save(folder / ("model.npz" if is_recorded else "expected.npz"), names, worst.expected)
    if case.checked.worst_outputs:
        save(folder / f"{case.runner.NAME}.npz", names, Outcome(outputs=case.checked.worst_outputs))
    has_nodes = found.over and not is_recorded
    folders = BisectionFolders(sample=worst.path, scratch=scratch / "bisection", evidence=folder / "node")
    node = _parting_node(reference, case, folders) if has_nodes else ""
    return Failure(parity=found, message=in_words(case), hint=hint_for(found), evidence=folder, node=node)


def _parting_node(reference: Reference, case: Case, folders: "BisectionFolders") -> str:
    return _first_node(original(case.subject.original, folders), file(case, folders), reference, case, folders)


def explained_variant(case: Case, references: OriginalOutputs, scratch: Path, evidence: Path) -> Failure:
    """Like `explained`, for a variant that is too far from the user's model."""
    found, model = case.checked.parity, case.subject.variant.model
    worst = found.too_far[0]
    folder = new_folder(evidence, file_name(*case.variant))
    reference = references.for_distance(case.subject.variant, case.settings)
    shutil.copyfile(reference.samples.paths[worst.worst_sample], folder / "inputs.npz")
    if beside := references.beside_model(case.subject.variant, reference):
        save(folder / "original.npz", case.output_names, beside.outcomes[worst.worst_sample])
    save(folder / "variant.npz", case.output_names, reference.outcomes[worst.worst_sample])
    sample = reference.samples.paths[worst.worst_sample]
    folders = BisectionFolders(sample=sample, scratch=scratch / "variant", evidence=folder / "node")
    node = _first_node(original(baseline(model), folders), graph(case, folders), reference, case, folders)
    message = (
        f"model '{model.name}': the variant '{found.variant}' is broken: its output '{worst.output}' differs from the "
        f"original on sample {worst.worst_sample} of {found.distance_samples}: {worst.failure}"
    )
    return Failure(parity=found, message=message, hint=VARIANT_HINT, evidence=folder, node=node)


def hint_for(found: Parity) -> str:
    if found.refusal:
        return REFUSED_HINT
    if found.runner == RECORDED:
        return RECORDED_HINT
    return HINT if math.isfinite(found.over[0].max_abs_error) else FORM_HINT


def in_words(case: Case) -> str:
    found = case.checked.parity
    if found.refusal:
        return f"{case.subject.words} on {found.label}: {found.refusal}"
    worst = found.over[0]
    where = f"sample {worst.worst_sample} of {found.samples}"
    if worst.worst_sample >= found.sample_count:
        where = f"sample {worst.worst_sample}, of a new draw after {found.samples}"
    if found.runner == RECORDED:
        return f"model '{found.model}': output '{worst.output}' is not what was recorded for {where}: {worst.failure}"
    return (
        f"{case.subject.words} on {found.label} ({found.runs_on}): output '{worst.output}' differs from "
        f"{case.subject.against} on {where}: {worst.failure}"
    )


def save(path: Path, names: Sequence[str], outcome: Outcome) -> None:
    """Writes the outputs as .npz, keyed by name."""
    arrays: dict[str, NDArray[Any]] = {name: array_of(outcome, index) for index, name in enumerate(names)}
    write_arrays(path, arrays)


@dataclass(frozen=True, kw_only=True)
class BisectionFolders:
    """The files and folders of a bisection."""

    sample: Path
    scratch: Path
    evidence: Path

    def folder(self, name: str) -> Path:
        folder = self.scratch / name
        folder.mkdir(parents=True)
        return folder


def original(variant: Variant, folders: BisectionFolders) -> Side:
    """The original graph without optimizations, on the CPU."""
    return side("the original", parity.graph_of(variant, folders.folder("original")), cpu())


def graph(case: Case, folders: BisectionFolders) -> Side:
    """The variant's graph without optimizations, on the CPU."""
    runnable = parity.graph_of(case.subject.variant, folders.folder("graph"))
    return side(f"the variant '{case.subject.variant.name}'", runnable, cpu())


def file(case: Case, folders: BisectionFolders) -> Side:
    """The file that failed, on its runner."""
    return side(case.runner.label(), case.subject.runnable(folders.folder("file")), case.runner)


def side(label: str, runnable: Runnable, runner: Runner) -> Side:
    return Side(
        label=label,
        path=runnable.path,
        data_folder=runnable.data_folder,
        runner=runner,
        settings=runnable.settings,
        is_optimized=runnable.is_optimized,
        needs_fp16=runnable.needs_fp16,
    )


def cpu() -> Runner:
    (runner,) = RUNNERS["cpu"]("")
    return runner


def condemned_locally(case: Case, references: OriginalOutputs, scratch: Path) -> CheckedParity:
    """Judges a file by every node on the right inputs, if all samples are ill-conditioned. If mobpack cannot take the
    file apart, that is no fault of the model: its nodes are then not judged, and the result says so."""
    checked, doubtful = case.checked, case.checked.doubtful
    if not doubtful or case.checked.parity.refusal:
        return checked
    reference = references.of(case.subject.original, case.settings)
    folders = BisectionFolders(sample=doubtful.path, scratch=scratch / "locally", evidence=scratch)
    limits = limits_of(case.settings.general, reference, case.subject.variant.model)
    a, b = original(case.subject.original, folders), file(case, folders)
    try:
        text = condemned(a, b, doubtful.path, folders.folder("values"), limits=limits)
    except ModelError as error:
        return replace(checked, parity=replace(checked.parity, nodes_not_judged=error.message))
    if not text:
        return checked
    names = {each.output for each in checked.parity.ill_conditioned}
    outputs = tuple(
        replace(each, failure=each.failure or f"the model is ill-conditioned, and {text}")
        if each.output in names
        else each
        for each in checked.parity.outputs
    )
    return replace(checked, parity=replace(checked.parity, outputs=outputs), worst=doubtful)


def limits_of(tolerance: Tolerance, reference: Reference, model: Model) -> ErrorLimits:
    """Limits for outputs and inner values."""
    names = [spec.name for spec in model.signature.outputs]
    return ErrorLimits(tolerance=tolerance, scales=dict(zip(names, reference.scales, strict=True)))


def _first_node(a: Side, b: Side, reference: Reference, case: Case, folders: BisectionFolders) -> str:
    """Describes the first node that parts; or why the search failed."""
    folder = folders.folder("values")
    end = time.monotonic() + SEARCH_S

    def stop_in_time(done: int, total: int) -> None:
        if time.monotonic() > end:
            raise ToolError(
                f"the search ended after {SEARCH_S} s at {done} of {total} values; mobpack check --bisect continues"
            )

    limits = limits_of(case.settings.general, reference, case.subject.variant.model)
    try:
        return bisect(a, b, [folders.sample], folder, folders.evidence, limits=limits, progress=stop_in_time).words
    except MobpackError as error:
        return f"the first node that differs was not found: {error.message}"
