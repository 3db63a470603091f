"""Programs of mobpack as forks of a process that has imported what they need.

mobpack has ONNX Runtime work in programs of their own, which may crash; two thirds of the time of one that converts a
small model are imports. In test modules that import `forked`, programs that run in this Python are forks of a server.
Each still is a process of its own, in the group of a client that stands for it and ends as it does, by a signal too.

Not for tests of memory, of environments, or of what a program imports.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from packager.processes import channel, commands
from tests.toolchain import fork_server

USERS = (channel, commands)
"""Modules that start programs."""


@contextmanager
def served() -> Iterator[tuple[tuple[str, ...], "subprocess.Popen[bytes]"]]:
    """The command that starts a program as a fork, and the server, which ends with this process or the `with` block."""
    with tempfile.TemporaryDirectory() as folder:
        place = str(Path(folder, "requests"))
        server = subprocess.Popen(
            [sys.executable, "-P", fork_server.__file__, "--serve", place],
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "ORT_DISABLE_TELEMETRY": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        with server:
            assert server.stdout
            assert server.stdout.readline() == b"ready\n"
            yield (sys.executable, "-SE", fork_server.__file__, place), server
    assert server.returncode == 0, "forks have not ended"


@pytest.fixture(scope="module", autouse=True)
def forked() -> Iterator[tuple[str, ...]]:
    """Has programs start as forks in tests of this module; the command that starts one."""
    with served() as (client, _), pytest.MonkeyPatch.context() as patch:
        for module in USERS:
            patch.setattr(module, "python", lambda: client)
        yield client
