"""Takes times in rounds: every contender once in each, so that what slows the machine slows all of them."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

from packager.core.errors import ModelError, ToolError
from packager.engines.runners import Loading, Outcome, Pace, Runnable, Runner, Session, Times
from packager.measuring.bench import machine
from packager.verification.parity import Subject

KEPT_OPEN_S = 3.0
"""A session that took longer to open stays open for all rounds; others are opened anew for each, so that the placement
of memory and the time of loading vary as they do between starts of an app."""


@dataclass(frozen=True, kw_only=True)
class Method:
    """How times are taken."""

    rounds: int = 5
    threads: int = 1
    pace: Pace = field(default_factory=Pace)


@dataclass(frozen=True, kw_only=True)
class Entrant:
    """A file or a graph on a runner, before it is timed."""

    subject: Subject
    runner: Runner
    sample: Path
    """.npz keyed by input name"""


@dataclass(frozen=True, kw_only=True)
class Round:
    times: Times
    loading: Loading | None
    """None if the session was open already"""


@dataclass(kw_only=True)
class Contender:
    """An entrant and its rounds so far."""

    entrant: Entrant
    folder: Path
    """for its files, exists"""
    rounds: list[Round] = field(default_factory=list)
    about: str = ""
    placed: int | None = None
    node_count: int | None = None
    threads: int | None = None
    """that the runtime used, if its program tells"""
    outcome: Outcome | None = None
    """its outputs"""
    refusal: str = ""
    """why it takes part in no further round, in words"""
    runnable: Runnable | None = None
    session: Session | None = None


def entered(entrants: Iterable[Entrant], scratch: Path) -> list[Contender]:
    """Contenders with a folder each below `scratch`."""
    found: list[Contender] = []
    for number, each in enumerate(entrants):
        folder = scratch / f"contender-{number}"
        folder.mkdir()
        found.append(Contender(entrant=each, folder=folder))
    return found


def take(contenders: Sequence[Contender], method: Method, advance: Callable[[int, int], None]) -> None:
    """Takes all rounds; what is done so far is in `contenders` even if it is interrupted."""
    total = method.rounds * len(contenders)
    with ExitStack() as kept, machine.pinned(machine.chosen_cores(method.threads)):
        for number in range(method.rounds):
            for place, each in enumerate(contenders):
                if not each.refusal:
                    take_round(each, method, kept)
                advance(number * len(contenders) + place + 1, total)


def take_round(contender: Contender, method: Method, kept: ExitStack) -> None:
    """One round; a model that is refused, or a runner that fails, drops out with the reason."""
    try:
        with ExitStack() as own:
            session, loading = _session(contender, method, own, kept)
            if contender.outcome is None:
                contender.outcome = _outcome(contender, session)
            times = session.time(contender.entrant.sample, method.pace)
    except (ModelError, ToolError) as error:
        contender.refusal = error.message
        return
    if times.error:
        contender.refusal = times.error
        return
    contender.rounds.append(Round(times=times, loading=loading))


def _session(contender: Contender, method: Method, own: ExitStack, kept: ExitStack) -> tuple[Session, Loading | None]:
    """An open session; `own` or `kept` ends it."""
    if contender.session is not None:
        return contender.session, None
    runner = contender.entrant.runner
    model = runnable(contender, method.threads)
    with ExitStack() as opening:
        session = opening.enter_context(runner.open(model, contender.folder))
        is_slow = (session.loading.seconds or 0.0) > KEPT_OPEN_S
        (kept if is_slow else own).push(opening.pop_all())
    contender.session = session if is_slow else None
    contender.about, contender.placed, contender.node_count = session.about, session.placed, session.node_count
    contender.threads = session.loading.threads
    return session, session.loading


def runnable(contender: Contender, threads: int) -> Runnable:
    if contender.runnable is None:
        contender.runnable = replace(contender.entrant.subject.runnable(contender.folder), threads=threads)
    return contender.runnable


def _outcome(contender: Contender, session: Session) -> Outcome:
    """The outputs, which show whether it computes the same as the original. Raises ModelError if the sample is
    refused."""
    outputs = contender.folder / "outputs"
    outputs.mkdir(exist_ok=True)
    found = session.run(contender.entrant.sample, outputs)
    if found.error:
        raise ModelError(found.error)
    return found
