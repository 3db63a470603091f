"""Programs on emulated processors as forks of one that has started ONNX Runtime there.

qemu translates all that Python and ONNX Runtime do to start, which takes longer than most models of tests. With the
fixture `emulated` the programs of a test on one processor are forks of a server on it: each still is a process of its
own, in the same Python and the same ONNX Runtime. Not for tests of how such a program starts.
"""

import os
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import Any

import pytest

from packager.environments.arm64 import Arm64
from packager.environments.x86_64 import OlderX86
from tests.toolchain import forks

EMULATED = (Arm64, OlderX86)
STARTED = Path(__file__).with_name("started")
"""folder with a module that has started ONNX Runtime once it is imported"""
Command = Callable[[Any], tuple[str, ...]]


@pytest.fixture(scope="module")
def emulated_commands() -> Iterator[dict[type, Command]]:
    """How each of EMULATED starts programs as forks: a server for each processor and runtime that is asked for."""
    with ExitStack() as servers:
        yield {kind: _as_forks(kind.command, servers) for kind in EMULATED}


@pytest.fixture
def emulated(emulated_commands: dict[type, Command], monkeypatch: pytest.MonkeyPatch) -> None:
    """Has programs on emulated processors start as forks in this test."""
    for kind, command in emulated_commands.items():
        monkeypatch.setattr(kind, "command", command)


def _as_forks(start: Command, servers: ExitStack) -> Command:
    clients: dict[Any, tuple[str, ...]] = {}

    def command(environment: Any) -> tuple[str, ...]:
        if environment not in clients:
            clients[environment], _ = servers.enter_context(served(start(environment), environment.variables()))
        return clients[environment]

    return command


def served(
    command: Sequence[str], variables: Mapping[str, str], *modules: str
) -> AbstractContextManager[tuple[tuple[str, ...], "subprocess.Popen[bytes]"]]:
    """The command that starts a program as a fork of one that `command` runs with `variables`, and the server, which
    imports `modules`, too."""
    places = os.pathsep.join(filter(None, (str(STARTED), variables.get("PYTHONPATH"))))
    environment = {**variables, "PYTHONPATH": places}
    return forks.served((*modules, "started_session"), command=command, environment=environment)
