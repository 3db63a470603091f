"""Runs `mobpack device` in this process, with the adb of a rack."""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from packager.cli import main
from tests.toolchain.adbd import Rack


@dataclass(frozen=True)
class Answer:
    code: int
    out: str
    err: str


Run = Callable[..., Answer]
"""Takes the arguments after `mobpack device`."""


def commands(rack: Rack, folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """The command, in `folder`."""
    monkeypatch.chdir(folder)
    for name, text in rack.variables.items():
        monkeypatch.setenv(name, text)

    def run(*arguments: str | Path) -> Answer:
        monkeypatch.setattr(sys, "argv", ["mobpack", "device", *map(str, arguments)])
        with pytest.raises(SystemExit) as exited:
            main()
        assert isinstance(exited.value.code, int)
        return Answer(exited.value.code, *capfd.readouterr())

    return run
