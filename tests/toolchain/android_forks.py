"""ONNX Runtime's Android library, asked in forks of one process that has loaded it.

A small model takes it 6 ms; starting Python and loading it takes several times that. In test modules that import
`probed`, each program of the environment android is a fork, with an Android version and a level of its Neural Networks
API of its own: it runs `android_probe.py` to its end, and may crash alone. Not for tests of how such a program starts.

It is not a server of `forks.py`, each of whose clients is a program, too: with one, the 401 questions of
`test_nnapi_rules.py` took 38 s of a processor, more than the 34 without forks, in place of 17.
"""

import atexit
import ctypes
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any

import pytest

from packager.core.errors import ModelError
from packager.engines.environments import android, android_probe
from packager.files.processes import children
from tests.cases.onnx_text import linear, saved

LIBRARIES = "LD_LIBRARY_PATH"
ENDED = "ended"
"""Key of the line that follows the answer of a fork: its exit code, below zero for a signal."""


@pytest.fixture(scope="module", autouse=True)
def probed() -> Iterator[None]:
    """Has programs with ONNX Runtime for Android run as forks in tests of this module."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(android, "commands", SimpleNamespace(run_job=run_job))
        yield


def run_job(
    program: Sequence[Path], job: Mapping[str, Any], folder: Path, *, environment: Mapping[str, str], **words: Any
) -> dict[str, Any]:
    """As `commands.run_job` with the program `android_probe.py`. Raises ModelError if a signal ends it."""
    assert program == [android.PROBE]
    request = folder / "job.json"
    request.write_text(json.dumps(job), encoding="utf-8")
    server = _server(words["command"], environment[LIBRARIES])
    assert server.stdin
    assert server.stdout
    server.stdin.write(json.dumps([str(request), dict(environment)]) + "\n")
    server.stdin.flush()
    answer: dict[str, Any] = {}
    while ENDED not in (line := json.loads(server.stdout.readline())):
        answer = line
    if line[ENDED] < 0:
        raise ModelError(f"{words['crash']} ({signal.Signals(-line[ENDED]).name})", hint=words["hint"])
    assert line[ENDED] == 0, "its error is in the standard error of the tests"
    return answer


@cache
def _server(command: Sequence[str], libraries: str) -> "subprocess.Popen[str]":
    """Ends with its standard input, and so with this process."""
    stack = ExitStack()
    model = saved(Path(stack.enter_context(TemporaryDirectory())) / "m.onnx", linear())
    server = subprocess.Popen(
        [*command, __file__, model],
        env={**os.environ, **children.QUIET, LIBRARIES: libraries},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    atexit.register(stack.close)
    return stack.enter_context(server)


def serve(model: str) -> None:
    """Opens a model, then runs `android_probe.py` in a fork for each line, `[JOB.json, variables]`."""
    before = threads()
    open_once(model)
    assert threads() == before, "ONNX Runtime has started threads, which a fork would lack"
    for line in sys.stdin:
        job, variables = json.loads(line)
        pid = os.fork()
        if not pid:
            os.environ.update(variables)
            sys.argv = ["android_probe.py", job]
            code = android_probe.main()
            sys.stdout.flush()
            os._exit(code)
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        print(json.dumps({ENDED: code}), flush=True)


def open_once(model: str) -> None:
    """Leaves behind what the library does for its first model only.

    Not with NNAPI: it keeps what it has found there.
    """
    api = android_probe.Api(android_probe.find_library())
    environment = api.made("CreateEnv", ctypes.c_int(android_probe.LOG_ERROR), b"mobpack")
    options = api.made("CreateSessionOptions")
    api.call("SetIntraOpNumThreads", options, ctypes.c_int(1))
    session = api.made("CreateSession", environment, os.fsencode(model), options)
    for kind, made in (("Session", session), ("SessionOptions", options), ("Env", environment)):
        api.function(f"Release{kind}", None)(made)


def threads() -> int:
    return len(list(Path("/proc/self/task").iterdir()))


if __name__ == "__main__":
    serve(sys.argv[1])
