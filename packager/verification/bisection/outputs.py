"""Compares the final outputs of two sides: the sample on which they differ most, and whether outputs are swapped."""

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from packager.core.errors import ModelError
from packager.core.findings import OutputError
from packager.engines.runners import Outcome, Runnable, Session
from packager.files import host
from packager.verification.bisection.figures import ErrorLimits
from packager.verification.bisection.running import fresh
from packager.verification.bisection.subject import BisectionSubject
from packager.verification.parity.outcomes import read_array

MOST_OUTPUTS = 64
"""Maximum number of outputs to test for swapping: every one is compared with every other, and more were not swapped by
hand."""


@dataclass(frozen=True, kw_only=True)
class Parting:
    """The sample on which the outputs differ most."""

    sample: int
    a: Path
    """folder with the first side's outputs"""
    b: Path
    errors: tuple[OutputError, ...] = ()
    """of the outputs on it, in the order of the first side"""
    refusal: str = ""
    """why the second side does not run on it"""

    def share(self, limits: ErrorLimits) -> float:
        """The largest error relative to its limit."""
        return math.inf if self.refusal else max(map(limits.share, self.errors), default=0.0)

    def parts(self, limits: ErrorLimits) -> bool:
        return bool(self.refusal) or any(limits.exceeds(error) for error in self.errors)

    @property
    def max_rel_error(self) -> float:
        return math.inf if self.refusal else max((error.max_rel_error for error in self.errors), default=0.0)


def part(
    a: BisectionSubject, b: BisectionSubject, samples: Sequence[Path], folder: Path, limits: ErrorLimits
) -> Parting:
    """Runs both on all of `samples`; their outputs on the worst one stay in `folder`.

    Raises ModelError if one of them does not open, or the first side runs on none of the samples.
    """
    folder.mkdir()
    worst: Parting | None = None
    refusal = ""
    with ExitStack() as stack:
        first, second = (stack.enter_context(_session(side, folder / name)) for name, side in (("a", a), ("b", b)))
        for index, sample in enumerate(samples):
            now = Parting(sample=index, a=_made(folder / "now" / "a"), b=_made(folder / "now" / "b"))
            if refused := first.run(sample, now.a).error:
                refusal = refusal or refused
                continue
            refused = _run(second, sample, now.b).error
            now = replace(now, refusal=refused, errors=() if refused else tuple(_errors(a.outputs, now, limits)))
            if worst is None or not now.share(limits) <= worst.share(limits):
                worst = _kept(now, folder / "worst")
            if refused:
                break
    if worst is None:
        raise ModelError(
            f"{a.side.label} runs on none of the samples: {refusal}", hint="give samples of the inputs that it takes"
        )
    return worst


def _session(subject: BisectionSubject, folder: Path) -> Session:
    folder.mkdir()
    return subject.side.runner.open(whole(subject, is_optimized=subject.side.is_optimized), folder)


def whole(subject: BisectionSubject, *, is_optimized: bool) -> Runnable:
    """The file of a side, unchanged."""
    side = subject.side
    return Runnable(
        path=side.path,
        data_folder=side.data_folder,
        needs_fp16=side.needs_fp16,
        settings=side.settings,
        is_optimized=is_optimized,
    )


def _run(session: Session, sample: Path, folder: Path) -> Outcome:
    """Runs a sample; a crash counts as a refusal."""
    try:
        return session.run(sample, folder)
    except ModelError as error:
        return Outcome(outputs=None, error=error.message)


def _made(folder: Path) -> Path:
    fresh(folder).mkdir(parents=True)
    return folder


def _errors(names: Sequence[str], found: Parting, limits: ErrorLimits) -> Iterator[OutputError]:
    for index, name in enumerate(names):
        yield limits.compared(name, read_array(found.a / f"{index}.npy"), read_array(found.b / f"{index}.npy"))


def _kept(found: Parting, folder: Path) -> Parting:
    host.rename(found.a.parent, fresh(folder))
    return replace(found, a=folder / "a", b=folder / "b")


def swapped(parting: Parting, a: BisectionSubject, b: BisectionSubject, limits: ErrorLimits) -> Mapping[int, int]:
    """Output of the second side -> the output of the first side whose values it has, by index; empty unless all outputs
    are the same in another order."""
    count = len(a.outputs)
    if parting.refusal or count != len(b.outputs) or count > MOST_OUTPUTS:
        return {}
    # Outputs that are right in their own position stay there: others may look like them.
    left = [index for index, error in enumerate(parting.errors) if limits.exceeds(error)]
    found: dict[int, int] = {}
    for index in tuple(left):
        fits = next((other for other in left if other != index and _is_same(parting, other, index, limits)), None)
        if fits is None:
            return {}
        found[index] = fits
        left.remove(fits)
    return found


def _is_same(parting: Parting, a: int, b: int, limits: ErrorLimits) -> bool:
    error = limits.compared("", read_array(parting.a / f"{a}.npy"), read_array(parting.b / f"{b}.npy"))
    return not limits.exceeds(error)
