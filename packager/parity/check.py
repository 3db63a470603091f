"""One runner on one file, sample by sample beside the original."""

import math
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from packager.errors import ModelError, ToolError
from packager.findings import OutputError, Parity
from packager.parity.allclose import Excess, over
from packager.parity.metrics import Comparison
from packager.parity.outcomes import array_of
from packager.parity.reference import Reference, References, is_reshaped
from packager.parity.scale import Scale
from packager.parity.settings import ParitySettings
from packager.parity.subject import Subject
from packager.runners import Outcome, Runner, Session

Progress = Callable[[int, int], None]


@dataclass(frozen=True, kw_only=True)
class Checked:
    parity: Parity
    worst_sample: int = 0
    worst_outputs: Path | None = None
    """folder with what the runner gave on that sample, in the folder of the check"""


@dataclass(frozen=True, kw_only=True)
class Ran:
    """What a runner did with all samples."""

    runs_on: str = ""
    placed: int | None = None
    node_count: int | None = None
    outputs: tuple[OutputError, ...] = ()
    worst_sample: int = 0
    worst_outputs: Path | None = None
    skipped: str = ""
    refusal: str = ""
    is_opened: bool = False


def silent(done: int, total: int) -> None:
    """Nobody wants to know how far it is."""


def check(
    subject: Subject,
    runner: Runner,
    settings: ParitySettings,
    folder: Path,
    references: References | None = None,
    *,
    progress: Progress = silent,
) -> Checked:
    """Compares what `runner` makes of `subject` with its original; files go below `folder`, an existing scratch folder.

    What is over tolerance, refused or missing is in the result; `progress` gets samples done and in all.

    Raises ModelError when the original model does not run on the samples, ConfigError when given samples do not fit it.
    """
    references = references or References(folder)
    reference = references.of(subject.original, settings)
    ran = _ran(subject, runner, settings, reference, folder, progress)
    distances = tuple(_distances(subject, settings, references)) if ran.outputs else ()
    specs = subject.variant.model.signature.outputs
    parity = Parity(
        model=subject.variant.model.name,
        variant=subject.variant.name,
        runner=runner.NAME,
        label=runner.label(),
        runs_on=ran.runs_on,
        placed=ran.placed,
        node_count=ran.node_count,
        against=subject.against,
        style=subject.style,
        sha256=subject.sha256,
        sample_count=len(reference.samples.paths),
        samples=reference.samples.description,
        tolerance=settings.tolerance,
        atol=settings.general.atol_of(settings.tolerance),
        outputs=ran.outputs,
        from_original=max((each.max_rel_error for each in distances), default=None),
        distances=distances,
        skipped=ran.skipped,
        refusal=ran.refusal,
        is_opened=ran.is_opened,
        reshaped_outputs=tuple(
            spec.name for index, spec in enumerate(specs) if is_reshaped(spec, reference.outcomes, index)
        ),
        unstable_outputs=tuple(specs[index].name for index in sorted(reference.unstable)),
    )
    return Checked(parity=parity, worst_sample=ran.worst_sample, worst_outputs=ran.worst_outputs)


def _distances(subject: Subject, settings: ParitySettings, references: References) -> Iterator[OutputError]:
    """What the variant's numbers are from the user's model, and whether that is too far."""
    beside = references.beside_model(subject.variant, settings)
    for each in beside.errors if beside else ():
        yield settings.distance.judged(each)


def _ran(
    subject: Subject,
    runner: Runner,
    settings: ParitySettings,
    reference: Reference,
    folder: Path,
    progress: Progress,
) -> Ran:
    own = folder / runner.label().replace(" ", "-")
    own.mkdir(exist_ok=True)
    runnable = subject.runnable(own)
    if reason := runner.missing() or runner.cannot_open(runnable):
        return Ran(skipped=reason)
    try:
        with runner.open(runnable, own) as session:
            return _compared(session, subject, settings, reference, own, progress)
    except ModelError as error:
        return Ran(refusal=error.message)
    except ToolError as error:
        return Ran(skipped=error.message)


def _compared(
    session: Session,
    subject: Subject,
    settings: ParitySettings,
    reference: Reference,
    folder: Path,
    progress: Progress,
) -> Ran:
    specs = subject.variant.model.signature.outputs
    judges = [
        Judge(spec.name, index, settings, reference.scales[index])
        for index, spec in enumerate(specs)
        if index not in reference.unstable
    ]
    worst, worst_sample = -1.0, 0
    made, kept = folder / "outputs", folder / "worst"
    made.mkdir()
    kept.mkdir()
    for number, (sample, expected) in enumerate(zip(reference.samples.paths, reference.outcomes, strict=True)):
        progress(number, len(reference.outcomes))
        try:
            actual = session.run(sample, made)
        except ModelError as error:
            refusal = f"sample {number}: {error.message}"
            return Ran(runs_on=session.about, refusal=refusal, worst_sample=number, is_opened=True)
        if actual.error:
            refusal = f"sample {number} runs on {subject.against}, and fails here: {actual.error}"
            return Ran(runs_on=session.about, refusal=refusal, worst_sample=number, is_opened=True)
        share = max((each.add(expected, actual) for each in judges), default=0.0)
        if share > worst:
            worst, worst_sample = share, number
            made, kept = kept, made  # the next sample writes over what is no longer the worst
    shutil.rmtree(made)
    return Ran(
        runs_on=session.about,
        placed=session.placed,
        node_count=session.node_count,
        outputs=tuple(each.verdict() for each in judges),
        worst_sample=worst_sample,
        worst_outputs=kept if reference.outcomes else None,
    )


class Judge:
    """One output: what it is so far beside the expected one, and whether that will do."""

    def __init__(self, output: str, index: int, settings: ParitySettings, scale: Scale) -> None:
        self._index, self._settings = index, settings
        self._comparison = Comparison(output, scale)
        self._sample_count = 0
        self._worst = Excess()
        """by what was recorded, and the number of its sample"""
        self._worst_sample = 0

    def add(self, expected: Outcome, actual: Outcome) -> float:
        """Takes the next sample; its largest error as a share of what is allowed, unless the output is judged
        otherwise."""
        a, b = array_of(expected, self._index), array_of(actual, self._index)
        if not self._settings.is_recorded:
            error = self._comparison.add(a, b).max_abs_error
            return self._settings.general.share(error, self._comparison.scale.value)
        self._comparison.add(b, a)
        excess = over(b, a)
        if excess.max_share > self._worst.max_share or (excess.failure and not self._worst.failure):
            self._worst, self._worst_sample = excess, self._sample_count
        self._sample_count += 1
        return math.inf if excess.failure and not excess.max_share else excess.max_share

    def verdict(self) -> OutputError:
        found = self._comparison.result()
        reason = self._comparison.reason
        if self._settings.is_recorded and found.output not in self._settings.outputs:
            return replace(found, failure=self._worst.failure, worst_sample=self._worst_sample)
        judged = self._settings.tolerance_of(found.output).judged(found)
        return replace(judged, failure=reason) if reason else judged
