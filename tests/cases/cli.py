"""The command line: where output goes, exit codes, and start-up time."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from packager.cli import main
from tests.cases.caches import empty_cache


class Answer(NamedTuple):
    code: int
    out: str
    err: str


Mobpack = Callable[..., Answer]


@pytest.fixture
def mobpack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Mobpack:
    """Run the command in `tmp_path` with a cache of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(empty_cache(tmp_path / ".cache")))

    def run(*arguments: str | Path) -> Answer:
        monkeypatch.setattr(sys, "argv", ["mobpack", *map(str, arguments)])
        with pytest.raises(SystemExit) as exited:
            main()
        code = exited.value.code
        assert isinstance(code, int)
        return Answer(code, *capfd.readouterr())

    return run
