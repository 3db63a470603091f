"""`mobpack publish` on the command line: requests as a table and as JSON, refusals, exit codes."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from packager.cli import main


class Answer(NamedTuple):
    code: int
    out: str
    err: str


Mobpack = Callable[..., Answer]


@pytest.fixture
def mobpack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Mobpack:
    monkeypatch.chdir(tmp_path)
    for name in ("MOBPACK_MAVEN_TOKEN", "MOBPACK_MAVEN_USERNAME", "MOBPACK_MAVEN_PASSWORD"):
        monkeypatch.delenv(name, raising=False)

    def run(*arguments: str) -> Answer:
        monkeypatch.setattr(sys, "argv", ["mobpack", "publish", *arguments])
        with pytest.raises(SystemExit) as exited:
            main()
        assert isinstance(exited.value.code, int)
        return Answer(exited.value.code, *capfd.readouterr())

    return run
