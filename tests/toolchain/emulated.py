"""Programs on emulated processors, as forks of one that has started there.

qemu translates all that Python and ONNX Runtime do to start, which takes longer than most models of tests. With the
fixture `emulated` the programs of a test on one processor are forks of a server on it, which all modules of a process
have in common: each still is a process of its own, in the same Python and the same ONNX Runtime. Not for tests of how
such a program starts.
"""

import os
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from packager.engines.environments.arm64 import Arm64
from packager.engines.environments.x86_64 import OlderX86
from tests.toolchain import forks

EMULATED: dict[type, forks.Command] = {kind: kind.command for kind in (Arm64, OlderX86)}
"""Emulated processors, and how each starts a program by itself."""
STARTED = Path(__file__).with_name("started")
"""folder with MODULE"""
MODULE = "started_session"
"""which has started ONNX Runtime once it is imported"""


@pytest.fixture
def emulated(monkeypatch: pytest.MonkeyPatch) -> None:
    """Has programs on emulated processors start as forks in this test."""
    for kind in EMULATED:
        monkeypatch.setattr(kind, "command", _as_forks)


def _as_forks(environment: Any) -> tuple[str, ...]:
    """The command that starts a program as a fork, with a server for each processor and runtime that is asked for."""
    start = EMULATED[type(environment)](environment)
    return forks.client_of(start, _finding_module(environment.variables()), MODULE)


def served(command: Sequence[str], variables: Mapping[str, str], *modules: str) -> AbstractContextManager[forks.Served]:
    """The command that starts a program as a fork of one that `command` runs with `variables`, and the server, which
    imports `modules`, too."""
    return forks.served((*modules, MODULE), command=command, environment=_finding_module(variables))


def _finding_module(variables: Mapping[str, str]) -> Mapping[str, str]:
    """The variables of a program that finds MODULE."""
    places = os.pathsep.join(filter(None, (str(STARTED), variables.get("PYTHONPATH"))))
    return {**variables, "PYTHONPATH": places}
