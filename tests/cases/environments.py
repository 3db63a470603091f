"""An empty cache of environments, and `mobpack doctor` in it."""

import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from packager.cli import main


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of its own, without delays after failures."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    return tmp_path / "cache" / "mobpack"


Doctor = Callable[..., "tuple[int | str | None, str, str]"]


@pytest.fixture
def doctor(cache: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Doctor:
    """Runs `mobpack doctor` with a cache of its own: exit code, standard output, standard error."""

    def run(*arguments: str) -> tuple[int | str | None, str, str]:
        monkeypatch.setattr(sys, "argv", ["mobpack", "doctor", *arguments])
        with pytest.raises(SystemExit) as exited:
            main()
        return (exited.value.code, *capfd.readouterr())

    return run
