"""Runs one runner on one file, and compares each sample with the original."""

import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from packager.core.errors import ModelError, ToolError
from packager.core.findings import IllConditioned, OutputError, Parity
from packager.core.values import Variant
from packager.engines.runners import Outcome, Runnable, Runner, Session
from packager.engines.runners.runner import ONNX_RUNTIME
from packager.files.hashes import known_sha256
from packager.verification.parity.drawing import Drawn, draw, ill_conditioned
from packager.verification.parity.judging import Judge
from packager.verification.parity.metrics import Comparison
from packager.verification.parity.reference import OriginalOutputs, Reference, is_reshaped
from packager.verification.parity.rows import Rows, rows_of
from packager.verification.parity.settings import ParitySettings
from packager.verification.parity.subject import Subject, is_own_original

Progress = Callable[[int, int], None]


@dataclass(frozen=True, kw_only=True)
class CheckedParity:
    parity: Parity
    worst: Drawn | None = None
    """the sample with the largest error"""
    worst_outputs: Path | None = None
    """folder with the runner's outputs for it, in the folder of the check"""
    doubtful: Drawn | None = None
    """the ill-conditioned sample with the largest error"""

    @property
    def worst_sample(self) -> int:
        return self.worst.number if self.worst else 0


@dataclass(frozen=True, kw_only=True)
class Ran:
    """A runner's results on all samples."""

    runs_on: str = ""
    placed: int | None = None
    node_count: int | None = None
    outputs: tuple[OutputError, ...] = ()
    worst: Drawn | None = None
    worst_outputs: Path | None = None
    doubtful: Drawn | None = None
    ill_conditioned: tuple[IllConditioned, ...] = ()
    is_judged_locally: bool = False
    skipped: str = ""
    refusal: str = ""
    is_opened: bool = False


def silent(done: int, total: int) -> None:
    """Ignores progress."""


def check(
    subject: Subject,
    runner: Runner,
    settings: ParitySettings,
    folder: Path,
    references: OriginalOutputs | None = None,
    *,
    progress: Progress = silent,
) -> CheckedParity:
    """Compares the results of `runner` on `subject` with its original; files go below `folder`, an existing scratch
    folder.

    The result contains excessive errors, refusals and missing outputs; `progress` gets the number of samples done and
    the total.

    Raises ModelError if the original model does not run on the samples, ConfigError if given samples do not fit it.
    """
    references = references or OriginalOutputs(folder)
    reference = references.of(subject.original, settings)
    ran = _ran(subject, runner, settings, references, folder, progress)
    has_distance = bool(ran.outputs) and is_own_original(subject.variant)
    typical = references.for_distance(subject.variant, settings) if has_distance else reference
    distances = tuple(_distances(subject, settings, references, typical)) if has_distance else ()
    others = _distances(subject, settings, references, reference) if distances and typical is not reference else ()
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
        distance_samples=typical.samples.description if distances else "",
        strays=tuple(each for each in others if each.failure),
        skipped=ran.skipped,
        refusal=ran.refusal,
        is_opened=ran.is_opened,
        ill_conditioned=ran.ill_conditioned,
        is_judged_locally=ran.is_judged_locally,
        reshaped_outputs=tuple(
            spec.name for index, spec in enumerate(specs) if is_reshaped(spec, reference.outcomes, index)
        ),
        unstable_outputs=tuple(specs[index].name for index in sorted(reference.unstable)),
    )
    worst = ran.worst or draw(subject.original, settings, references)[0]
    return CheckedParity(parity=parity, worst=worst, worst_outputs=ran.worst_outputs, doubtful=ran.doubtful)


def _distances(
    subject: Subject, settings: ParitySettings, references: OriginalOutputs, reference: Reference
) -> Iterator[OutputError]:
    """The distance between the variant, whose outputs are `reference`, and the user's model, and whether it is too
    large."""
    beside = references.beside_model(subject.variant, reference)
    for each in beside.errors if beside else ():
        yield settings.distance.judged(each)


def _ran(
    subject: Subject,
    runner: Runner,
    settings: ParitySettings,
    references: OriginalOutputs,
    folder: Path,
    progress: Progress,
) -> Ran:
    """The results; an engine other than ONNX Runtime that refuses or crashes counts as one that did not run: it says
    nothing about what ships."""
    found = _tried(subject, runner, settings, references, folder, progress)
    return Ran(skipped=found.refusal) if found.refusal and runner.ENGINE not in ("", ONNX_RUNTIME) else found


def _tried(
    subject: Subject,
    runner: Runner,
    settings: ParitySettings,
    references: OriginalOutputs,
    folder: Path,
    progress: Progress,
) -> Ran:
    own = folder / runner.label().replace(" ", "-")
    own.mkdir(exist_ok=True)
    runnable = subject.runnable(own)
    if reason := runner.missing() or runner.cannot_open(runnable):
        return Ran(skipped=reason)
    try:
        with _session(subject, runner, runnable, references, own) as session:
            return _compared(session, subject, settings, references, own, progress)
    except ModelError as error:
        return Ran(refusal=error.message)
    except ToolError as error:
        return Ran(skipped="; ".join(filter(None, (error.message, error.hint))))


def _session(
    subject: Subject, runner: Runner, runnable: Runnable, references: OriginalOutputs, folder: Path
) -> Session:
    """A session of `runnable`, which remembers its runs if the runner's results depend on the file alone."""
    if not (subject.compiled and runner.identity()):
        return runner.open(runnable, folder)
    # Two models of one architecture have the same graph over other weights.
    weights = tuple(map(known_sha256, subject.compiled.data_files))
    content = (subject.sha256, weights, *sorted(runnable.settings.items()))
    which = (runner.NAME, runner.label(), runner.identity(), *content)
    return references.runs.session(which, lambda: runner.open(runnable, folder))


def _compared(
    session: Session,
    subject: Subject,
    settings: ParitySettings,
    references: OriginalOutputs,
    folder: Path,
    progress: Progress,
) -> Ran:
    first = references.of(subject.original, settings)
    specs = subject.variant.model.signature.outputs
    judges = [
        Judge(spec.name, index, settings, first.scales[index])
        for index, spec in enumerate(specs)
        if index not in first.unstable
    ]
    comparing = Comparing(judges, settings, folder, rows_of(subject.original, settings, first.scales))
    for drawn in _as_needed(comparing, subject.original, settings, references):
        progress(min(drawn.number, len(first.outcomes) - 1), len(first.outcomes))
        try:
            actual = session.run(drawn.path, comparing.made)
        except ModelError as error:
            return _refused(session, drawn, f"sample {drawn.number}: {error.message}")
        if actual.error:
            where = f"sample {drawn.number} runs on {subject.against}"
            return _refused(session, drawn, f"{where}, and fails here: {actual.error}")
        comparing.take(drawn, actual)
    return comparing.ran(session)


def _as_needed(
    comparing: "Comparing", original: Variant, settings: ParitySettings, references: OriginalOutputs
) -> Iterator[Drawn]:
    """The samples, and more while too many of them are ill-conditioned."""
    drawn = draw(original, settings, references)
    wanted, times = len(drawn), 0
    while drawn:
        yield from drawn
        times += 1
        drawn = draw(original, settings, references, times) if comparing.lacks(wanted) else ()


def _refused(session: Session, drawn: Drawn, refusal: str) -> Ran:
    return Ran(runs_on=session.about, refusal=refusal, worst=drawn, is_opened=True)


class Comparing:
    """Every output of a file, and the runner's outputs for the sample with the largest error."""

    def __init__(self, judges: Sequence[Judge], settings: ParitySettings, folder: Path, rows: Rows) -> None:
        self.made = folder / "outputs"
        """folder for the outputs of the next sample"""
        self._judges, self._settings = judges, settings
        self._worst, self._doubtful = (_Worst(folder / name) for name in ("worst", "doubtful"))
        self._ill: list[IllConditioned] = []
        self._rows, self._folder = rows, folder
        self.made.mkdir()

    def lacks(self, wanted: int) -> bool:
        """Whether an output was compared on fewer than `wanted` well-conditioned samples."""
        return any(each.taken_count < wanted for each in self._judges)

    def take(self, drawn: Drawn, actual: Outcome) -> None:
        share = doubtful = -1.0
        matched = self._matched(drawn, actual)
        for judge in self._judges:
            part = judge.part(drawn.expected, matched)
            own = self._moves(judge, drawn) if judge.failure(part) and not self._settings.is_recorded else None
            if own:
                judge.doubt(part, own, drawn.number)
                doubtful = max(doubtful, judge.share(part))
                self._ill.append(ill_conditioned(judge, own, drawn.number))
                continue
            judge.take(part, drawn.number)
            by_record = self._settings.is_recorded
            found = judge.take_recorded(drawn.expected, actual, drawn.number) if by_record else judge.share(part)
            share = max(share, found)
        self.made = self._worst.offer(max(share, 0.0) if doubtful < 0 else share, drawn, self.made)
        self.made = self._doubtful.offer(doubtful, drawn, self.made)

    def ran(self, session: Session) -> Ran:
        shutil.rmtree(self.made)
        is_local = any(each.is_doubtful for each in self._judges)
        kept, other = (self._doubtful, self._worst) if is_local else (self._worst, self._doubtful)
        shutil.rmtree(other.outputs)
        return Ran(
            runs_on=session.about,
            placed=session.placed,
            node_count=session.node_count,
            outputs=tuple(each.verdict() for each in self._judges),
            worst=kept.drawn,
            worst_outputs=kept.outputs if kept.drawn else None,
            doubtful=self._doubtful.drawn,
            ill_conditioned=tuple(self._ill),
            is_judged_locally=is_local,
        )

    def _matched(self, drawn: Drawn, actual: Outcome) -> Outcome:
        """`actual` with sorted rows in the expected order; recorded outputs are compared as they are."""
        if self._settings.is_recorded or not self._rows.groups:
            return actual
        return self._rows.matched(drawn.expected, actual, Path(tempfile.mkdtemp(dir=self._folder)) / "matched")

    def _moves(self, judge: Judge, drawn: Drawn) -> Comparison | None:
        moved = drawn.perturbed()
        outcomes = tuple(self._matched(drawn, each) for each in moved.outcomes)
        return judge.moves(drawn.expected, replace(moved, outcomes=outcomes))


class _Worst:
    """The sample with the largest error, and the runner's outputs for it."""

    def __init__(self, outputs: Path) -> None:
        self.outputs = outputs
        self.drawn: Drawn | None = None
        self._share = -1.0
        outputs.mkdir()

    def offer(self, share: float, drawn: Drawn, made: Path) -> Path:
        """Keeps `made` if its error is larger; returns the folder that the next sample may overwrite."""
        if not share > self._share:
            return made
        self._share, self.drawn = share, drawn
        made, self.outputs = self.outputs, made
        return made
