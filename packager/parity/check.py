"""One runner on one file, sample by sample beside the original."""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from packager.errors import ModelError, ToolError
from packager.findings import OutputError, Parity
from packager.parity.allclose import over
from packager.parity.metrics import Comparison
from packager.parity.outcomes import array_of
from packager.parity.reference import Reference, References, is_reshaped
from packager.parity.settings import ParitySettings
from packager.parity.subject import Subject
from packager.runners import Outcome, Runner, Session


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


def check(
    subject: Subject, runner: Runner, settings: ParitySettings, folder: Path, references: References | None = None
) -> Checked:
    """Compares what `runner` makes of `subject` with its original; files go below `folder`, an existing scratch folder.

    What is over tolerance, refused or missing is in the result. Raises ModelError when the original model does not run
    on the samples, ConfigError when given samples do not fit it.
    """
    references = references or References(folder)
    reference = references.of(subject.original, settings)
    ran = _ran(subject, runner, settings, reference, folder)
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
        outputs=ran.outputs,
        from_original=max((each.max_rel_error for each in distances), default=None),
        distances=distances,
        skipped=ran.skipped,
        refusal=ran.refusal,
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
        yield replace(each, failure=settings.distance.failure(each))


def _ran(subject: Subject, runner: Runner, settings: ParitySettings, reference: Reference, folder: Path) -> Ran:
    own = folder / runner.label().replace(" ", "-")
    own.mkdir(exist_ok=True)
    runnable = subject.runnable(own)
    if reason := runner.missing() or runner.cannot_open(runnable):
        return Ran(skipped=reason)
    try:
        with runner.open(runnable, own) as session:
            return _compared(session, subject, settings, reference, own)
    except ModelError as error:
        return Ran(refusal=error.message)
    except ToolError as error:
        return Ran(skipped=error.message)


def _compared(session: Session, subject: Subject, settings: ParitySettings, reference: Reference, folder: Path) -> Ran:
    specs = subject.variant.model.signature.outputs
    judges = [Judge(spec.name, index, settings) for index, spec in enumerate(specs) if index not in reference.unstable]
    worst, worst_sample, kept = -1.0, 0, folder / "worst"
    for number, (sample, expected) in enumerate(zip(reference.samples.paths, reference.outcomes, strict=True)):
        made = folder / "outputs"
        made.mkdir()
        actual = session.run(sample, made)
        if actual.error:
            refusal = f"sample {number} runs on {subject.against}, and fails here: {actual.error}"
            return Ran(runs_on=session.about, refusal=refusal, worst_sample=number)
        error = max((each.add(expected, actual) for each in judges), default=0.0)
        if error > worst:
            worst, worst_sample = error, number
            shutil.rmtree(kept, ignore_errors=True)
            made.rename(kept)
        else:
            shutil.rmtree(made)
    return Ran(
        runs_on=session.about,
        placed=session.placed,
        node_count=session.node_count,
        outputs=tuple(each.verdict() for each in judges),
        worst_sample=worst_sample,
        worst_outputs=kept if kept.is_dir() else None,
    )


class Judge:
    """One output: what it is so far beside the expected one, and whether that will do."""

    def __init__(self, output: str, index: int, settings: ParitySettings) -> None:
        self._index, self._settings = index, settings
        self._comparison = Comparison(output)
        self._failure = ""

    def add(self, expected: Outcome, actual: Outcome) -> float:
        """Takes the next sample; its largest error as a share of the largest value."""
        a, b = array_of(expected, self._index), array_of(actual, self._index)
        if not self._settings.is_recorded:
            return self._comparison.add(a, b).max_rel_error
        self._failure = self._failure or over(b, a).failure
        return self._comparison.add(b, a).max_rel_error

    def verdict(self) -> OutputError:
        found = self._comparison.result()
        reason = self._comparison.reason
        if self._settings.is_recorded and found.output not in self._settings.outputs:
            return replace(found, failure=reason or self._failure)
        return replace(found, failure=reason or self._settings.tolerance_of(found.output).failure(found))
