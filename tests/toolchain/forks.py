"""Programs of mobpack as forks of a process that has imported what they need.

mobpack has ONNX Runtime work in programs of their own, which may crash; two thirds of the time of one that converts a
small model are imports. In test modules that import `forked`, programs that run in this Python are forks of a server,
and so are the programs of commands that these modules start (`command.py`), and those that make packages (`made.py`).
Each still is a process of its own, in the group of a client that stands for it and ends as it does, by a signal too.

In test modules that import `isolated`, programs in the environments of providers are forks of a process there that has
imported ONNX Runtime, which takes as long as opening a small model.

Not for tests of memory, of environments, or of what a program imports.
"""

import atexit
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from packager.engines.environments.qnn import Qnn
from packager.engines.environments.webgpu import WebGpu
from packager.files.processes import channel, children, commands
from tests.toolchain import fork_server

USERS = (channel, commands)
"""Modules that start programs."""
LIBRARIES = """
google.protobuf.json_format numpy onnx onnxruntime packager.compile.cache_key
packager.compile.canonical packager.compile.inserted_casts packager.compile.operators packager.compile.reader
packager.compile.recorded_macs packager.compile.shared
packager.files.processes.channel packager.files.processes.commands
packager.quantization.calibration.observer packager.quantization.calibration.statistics
packager.quantization.measurement.running packager.engines.session.exact packager.engines.session.session_child
""".split()
"""Modules that programs of mobpack import. None of them starts a thread, which a fork would lack."""
Command = Callable[[Any], tuple[str, ...]]
"""How an environment starts a program."""
ISOLATED: dict[type, Command] = {kind: kind.command for kind in (Qnn, WebGpu)}
"""Environments of providers, and how each starts a program by itself."""
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", **children.QUIET}
"""NumPy's library starts no others."""


@contextmanager
def served(
    modules: Sequence[str] = LIBRARIES,
    *,
    command: Sequence[str] = (sys.executable, "-P"),
    environment: Mapping[str, str] | None = None,
) -> Iterator[tuple[tuple[str, ...], "subprocess.Popen[bytes]"]]:
    """The command that starts a program as a fork, and the server, which ends with this process or the `with` block.

    `command`, which needs the variables of `environment`, runs the server, and so all of its forks.
    """
    with tempfile.TemporaryDirectory() as folder:
        place = str(Path(folder, "requests"))
        server = subprocess.Popen(
            [*command, fork_server.__file__, "--serve", place, sys.executable, *modules],
            env={**os.environ, **ONE_THREAD, **(environment or {})},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        with server:
            assert server.stdout
            assert server.stdout.readline() == b"ready\n"
            yield (sys.executable, "-SE", fork_server.__file__, place), server
    assert server.returncode == 0, "forks have not ended"


Served = tuple[tuple[str, ...], "subprocess.Popen[bytes]"]
"""The command that starts a program as a fork, and its server."""


def lasting(modules: Sequence[str] = LIBRARIES, environment: Mapping[str, str] | None = None) -> Served:
    """As `served`, for as long as this process runs."""
    return kept(served(modules, environment=environment))


def kept(server: AbstractContextManager[Served]) -> Served:
    """A server that ends with this process."""
    stack = ExitStack()
    made = stack.enter_context(server)
    atexit.register(stack.close)
    return made


def shared() -> tuple[str, ...]:
    """The command that starts a program as a fork of the server that all modules of this process have in common."""
    client, server = _shared()
    if server.poll() is not None:
        _shared.cache_clear()  # the next program has a new one
        raise AssertionError(f"the server of forks has ended, with {server.returncode}")
    return client


@cache
def _shared() -> Served:
    return lasting()


@contextmanager
def forking() -> Iterator[None]:
    """Has programs start as forks in the `with` block. The server starts with the first of them."""
    with pytest.MonkeyPatch.context() as patch:
        for module in USERS:
            patch.setattr(module, "python", shared)
        yield


@pytest.fixture(scope="module", autouse=True)
def forked() -> Iterator[None]:
    """Has programs start as forks in tests of this module."""
    with forking():
        yield


@pytest.fixture
def unforked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Has programs of one test start by themselves in a module that imports `forked`, as for a test of memory."""
    for module in USERS:
        monkeypatch.setattr(module, "python", children.python)


@pytest.fixture(scope="module", autouse=True)
def isolated() -> Iterator[None]:
    """Has programs in environments of providers start as forks in tests of this module."""
    with pytest.MonkeyPatch.context() as patch:
        for kind in ISOLATED:
            patch.setattr(kind, "command", _isolated)
        yield


def _isolated(environment: Any) -> tuple[str, ...]:
    return client_of(ISOLATED[type(environment)](environment), environment.variables(), "numpy", "onnxruntime")


def client_of(start: tuple[str, ...], variables: Mapping[str, str], *modules: str) -> tuple[str, ...]:
    """The command that starts a program as a fork of one that `start` runs with `variables`, and that has imported
    `modules`. All modules of this process have one server for the same of these."""
    return _started(start, tuple(sorted(variables.items())), modules)[0]


@cache
def _started(start: tuple[str, ...], variables: tuple[tuple[str, str], ...], modules: tuple[str, ...]) -> Served:
    return kept(served(modules, command=start, environment=dict(variables)))
