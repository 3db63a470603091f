"""A model runs a sample once in a build; what is not sure to be the same is run again."""

from pathlib import Path
from types import TracebackType
from typing import Self

import numpy
import pytest

from packager.core.errors import ModelError
from packager.engines.runners import Loading, Outcome, Pace, Times
from packager.verification.parity import SampleRuns, runs


class Doubling:
    """A session of y = 2 x that counts what it does."""

    about, placed, node_count = "doubling", 1, 2
    loading = Loading()

    def __init__(self, log: list[str]) -> None:
        self.log = log
        log.append("open")

    def run(self, sample: Path, folder: Path) -> Outcome:
        self.log.append("run")
        x = numpy.load(sample)["x"]
        if x[0] < 0:
            return Outcome(outputs=None, error="negative")
        numpy.save(folder / "0.npy", 2 * x)
        return Outcome(outputs=folder)

    def time(self, sample: Path, pace: Pace) -> Times:
        self.log.append("time")
        return Times(times_ns=(1,))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.log.append("close")


def sample(folder: Path, *numbers: float, name: str = "sample") -> Path:
    path = folder / f"{name}.npz"
    numpy.savez(path, x=numpy.array(numbers))
    return path


def ran(known: SampleRuns, path: Path, folder: Path, log: list[str], which: str = "model") -> Outcome:
    """The outcome of `path` in a session of its own, its outputs in `folder`."""
    folder.mkdir(exist_ok=True)
    with known.session((which,), lambda: Doubling(log)) as session:
        assert (session.about, session.placed, session.node_count) == ("doubling", 1, 2)
        return session.run(path, folder)


@pytest.fixture
def known(tmp_path: Path) -> SampleRuns:
    (tmp_path / "kept").mkdir()
    return SampleRuns(folder=tmp_path / "kept")


def test_the_same_numbers_are_not_run_again_and_nothing_is_opened(known: SampleRuns, tmp_path: Path) -> None:
    log: list[str] = []
    ran(known, sample(tmp_path, 1, 2), tmp_path / "one", log)
    assert log == ["open", "run", "close"]
    again = sample(tmp_path, 1, 2, name="elsewhere")
    (tmp_path / "one" / "0.npy").unlink()  # the first outcome may go or change
    found = ran(known, again, tmp_path / "two", log)
    assert log == ["open", "run", "close"]
    assert found == Outcome(outputs=tmp_path / "two")
    assert numpy.load(tmp_path / "two" / "0.npy").tolist() == [2, 4]


def test_other_numbers_and_other_models_run(known: SampleRuns, tmp_path: Path) -> None:
    log: list[str] = []
    ran(known, sample(tmp_path, 1), tmp_path / "one", log)
    ran(known, sample(tmp_path, 2), tmp_path / "two", log)
    ran(known, sample(tmp_path, 2), tmp_path / "three", log, which="another")
    assert log.count("run") == log.count("open") == log.count("close") == 3


def test_what_a_model_refused_is_asked_again(known: SampleRuns, tmp_path: Path) -> None:
    log: list[str] = []
    for _ in range(2):
        assert ran(known, sample(tmp_path, -1), tmp_path / "one", log).error == "negative"
    assert log.count("run") == 2


def test_large_outputs_are_not_kept(known: SampleRuns, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "MAX_BYTES", 10)
    log: list[str] = []
    for _ in range(2):
        ran(known, sample(tmp_path, 1, 2), tmp_path / "one", log)
    assert log.count("run") == 2
    assert list((tmp_path / "kept").iterdir()) == []


def test_a_model_that_was_never_opened_is_opened_at_once(known: SampleRuns) -> None:
    def refused() -> Doubling:
        raise ModelError("cannot be opened")

    with pytest.raises(ModelError, match="cannot be opened"):
        known.session(("model",), refused)


def test_times_are_taken_in_the_session_itself_and_never_remembered(tmp_path: Path) -> None:
    log: list[str] = []
    known = SampleRuns(folder=tmp_path)
    path = sample(tmp_path, 1.0)
    with known.session(("model",), lambda: Doubling(log)) as session:
        assert session.time(path, Pace()) == session.time(path, Pace()) == Times(times_ns=(1,))
        assert session.loading == Loading()
    assert log == ["open", "time", "time", "close"]
