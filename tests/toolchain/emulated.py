"""Programs on emulated processors, and in environments of providers, as forks of one that has started there.

qemu translates all that Python and ONNX Runtime do to start, which takes longer than most models of tests. With the
fixture `emulated` the programs of a test on one processor are forks of a server on it, which all modules of a process
have in common: each still is a process of its own, in the same Python and the same ONNX Runtime. Not for tests of how
such a program starts.

In test modules that import `isolated`, programs in the environments of providers are forks of a process there that has
imported ONNX Runtime, which takes as long as opening a small model.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from packager.environments.arm64 import Arm64
from packager.environments.qnn import Qnn
from packager.environments.webgpu import WebGpu
from packager.environments.x86_64 import OlderX86
from tests.toolchain import forks

EMULATED = (Arm64, OlderX86)
ISOLATED = (Qnn, WebGpu)
STARTED = Path(__file__).with_name("started")
"""folder with a module that has started ONNX Runtime once it is imported"""
Command = Callable[[Any], tuple[str, ...]]


@pytest.fixture
def emulated(monkeypatch: pytest.MonkeyPatch) -> None:
    """Has programs on emulated processors start as forks in this test."""
    for kind in EMULATED:
        monkeypatch.setattr(kind, "command", _as_forks)


@pytest.fixture(scope="module", autouse=True)
def isolated() -> Iterator[None]:
    """Has programs in environments of providers start as forks in tests of this module."""
    with pytest.MonkeyPatch.context() as patch:
        for kind in ISOLATED:
            patch.setattr(kind, "command", _as_forks)
        yield


START: dict[type, Command] = {kind: kind.command for kind in (*EMULATED, *ISOLATED)}
"""How each of them starts a program by itself."""


def _as_forks(environment: Any) -> tuple[str, ...]:
    """The command that starts a program as a fork, with a server for each processor and runtime that is asked for."""
    kind = type(environment)
    return _server(START[kind](environment), tuple(sorted(environment.variables().items())), kind in EMULATED)[0]


@cache
def _server(start: tuple[str, ...], variables: tuple[tuple[str, str], ...], is_emulated: bool) -> forks.Served:
    if is_emulated:
        return forks.kept(served(start, dict(variables)))
    return forks.kept(forks.served(("numpy", "onnxruntime"), command=start, environment=dict(variables)))


def served(command: Sequence[str], variables: Mapping[str, str], *modules: str) -> AbstractContextManager[forks.Served]:
    """The command that starts a program as a fork of one that `command` runs with `variables`, and the server, which
    imports `modules`, too."""
    places = os.pathsep.join(filter(None, (str(STARTED), variables.get("PYTHONPATH"))))
    environment = {**variables, "PYTHONPATH": places}
    return forks.served((*modules, "started_session"), command=command, environment=environment)
