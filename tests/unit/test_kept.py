"""Compilations that are kept by content: made once, made anew at night, removed a week after their last use."""

import os
import time
from pathlib import Path

import pytest

from tests.toolchain.kept import FRESH, kept


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The folders that `make` filled."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv(FRESH, raising=False)
    return []


def result(made: list[Path], *content: Path | str) -> Path:
    def make(folder: Path) -> None:
        made.append(folder)
        (folder / "result").write_text("done")

    folder = kept("test", make, *content)
    assert (folder / "result").read_text() == "done"
    return folder


def test_it_is_made_once_for_the_same_content(made: list[Path], tmp_path: Path) -> None:
    (source := tmp_path / "a.kt").write_text("1")
    assert result(made, source, "-O1") == result(made, source, "-O1")
    assert len(made) == 1
    assert result(made, source, "-O2") != result(made, source, "-O1")
    source.write_text("2")
    result(made, source, "-O1")
    assert len(made) == 3


def test_a_run_that_wants_all_made_anew_makes_it_once(made: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    folder = result(made, "source")
    os.utime(folder, (time.time() - 60,) * 2)
    monkeypatch.setenv(FRESH, str(time.time() - 30))
    result(made, "source")
    result(made, "source")
    assert len(made) == 2


def test_what_nobody_used_for_a_week_is_removed(made: list[Path]) -> None:
    old, other = result(made, "old"), result(made, "other")
    for folder in (old, other):
        os.utime(folder, (0, 0))
    result(made, "other")
    assert not old.exists()
    assert other.exists()
