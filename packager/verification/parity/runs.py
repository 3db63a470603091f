"""Remembers a build's runs, so that no model is opened twice for the same sample."""

import shutil
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

from packager.engines.runners import Loading, Outcome, Pace, Session, Times
from packager.files.hashes import sha256_of

MAX_BYTES = 16 << 20
"""Maximum size of the outputs that are kept for one sample: larger ones fit into no package, and cost a copy."""

Which = tuple[object, ...]
"""Identity of a model and of the runner that opens it."""


@dataclass(frozen=True, kw_only=True)
class SessionAbout:
    """Description of a session."""

    about: str
    placed: int | None
    node_count: int | None


@dataclass(frozen=True, kw_only=True)
class SampleRuns:
    """Outcomes by model and by the content of the sample."""

    folder: Path
    """must exist as long as they are used"""
    outputs: dict[tuple[Which, str], Path] = field(default_factory=dict)
    opened: dict[Which, SessionAbout] = field(default_factory=dict)
    """models that were opened before"""

    def session(self, which: Which, open_session: Callable[[], Session]) -> "RememberedSession":
        """A session of `which`, opened at once for a model that never was, else for the first sample that it has not
        run. Raises like `open_session`."""
        session = RememberedSession(self, which, open_session)
        if which not in self.opened:
            session.open()
        return session

    def keep(self, which: Which, sample: Path, outcome: Outcome) -> None:
        if outcome.outputs and sum(each.stat().st_size for each in outcome.outputs.iterdir()) <= MAX_BYTES:
            kept = Path(tempfile.mkdtemp(dir=self.folder))
            _copy(outcome.outputs, kept)
            self.outputs[which, sha256_of(sample)] = kept

    def find(self, which: Which, sample: Path, folder: Path) -> Outcome | None:
        """The outcome of an earlier run, its outputs in `folder`; None if there was none."""
        kept = self.outputs.get((which, sha256_of(sample)))
        if kept is None:
            return None
        _copy(kept, folder)
        return Outcome(outputs=folder)


class RememberedSession:
    """A session that runs only samples that the model has not run before."""

    def __init__(self, runs: SampleRuns, which: Which, open_session: Callable[[], Session]) -> None:
        self._runs, self._which, self._open = runs, which, open_session
        self._session: Session | None = None
        self._stack = ExitStack()

    def open(self) -> Session:
        if self._session is None:
            found = self._stack.enter_context(self._open())
            self._runs.opened[self._which] = SessionAbout(
                about=found.about, placed=found.placed, node_count=found.node_count
            )
            self._session = found
        return self._session

    @property
    def about(self) -> str:
        return self._runs.opened[self._which].about

    @property
    def placed(self) -> int | None:
        return self._runs.opened[self._which].placed

    @property
    def node_count(self) -> int | None:
        return self._runs.opened[self._which].node_count

    @property
    def loading(self) -> Loading:
        return self.open().loading

    def time(self, sample: Path, pace: Pace) -> Times:
        return self.open().time(sample, pace)

    def run(self, sample: Path, folder: Path) -> Outcome:
        if found := self._runs.find(self._which, sample, folder):
            return found
        outcome = self.open().run(sample, folder)
        self._runs.keep(self._which, sample, outcome)
        return outcome

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.__exit__(kind, error, trace)


def _copy(source: Path, folder: Path) -> None:
    for file in source.iterdir():
        shutil.copyfile(file, folder / file.name)
