"""`mobpack` in a process of its own, which begins as a copy of one that has imported its modules.

Importing them takes 1.4 s of a processor, most of what many commands take. `run` has a server import them once for all
tests of a process; a command is a fork of it, with its own folder, variables, standard streams and exit. Its programs
are what those of this process are: forks in test modules that import `forked` (`forks.py`).

Tests of how a process starts or is killed, of what it imports, and of Python's own variables start Python themselves.
"""

import atexit
import gc
import importlib
import json
import os
import runpy
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO, Any

from packager.core.errors import MobpackError
from packager.distribution.locking import packages
from packager.files.processes import channel, commands

MODULES = ("packager.cli", "packager.workflows.build", "packager.workflows.fleet.steps", "packager.workflows.unchanged")
"""Modules of mobpack that the server imports."""
LIBRARIES = ("onnx", "rich.console", "license_expression", "jinja2")
"""Libraries that commands import when they need them. A fork has but one thread, so none of them may start another."""
OF_PACKAGES = frozenset({"lock", "release", "rebuild", "--locked", "--cache"})
"""Words of commands that compare the files of all installed packages with what they were."""
ALONE = {"OPENBLAS_NUM_THREADS": "1"}
"""Keeps NumPy's library from starting threads."""


@dataclass(frozen=True)
class Server:
    """A process that starts commands, until this one ends."""

    requests: socket.socket
    process: "subprocess.Popen[bytes]"

    def run(self, request: Mapping[str, object], streams: Sequence[int]) -> int:
        """The exit code of a command, negative for a signal; `streams` are its standard input, output and error."""
        text = json.dumps(request).encode()
        answer = b""
        with suppress(BrokenPipeError, ConnectionResetError):
            socket.send_fds(self.requests, [len(text).to_bytes(8, "little")], streams)
            self.requests.sendall(text)
            answer = self.requests.recv(8)
        if not answer:
            _server.cache_clear()  # the next command has a new one
            raise AssertionError(f"the server of commands has ended, with {self.process.wait()}")
        return int.from_bytes(answer, "little", signed=True)

    def end(self) -> None:
        self.requests.close()
        self.process.wait()


@cache
def _server() -> Server:
    ours, theirs = socket.socketpair()
    with theirs:
        process = subprocess.Popen(
            [sys.executable, "-P", __file__, str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            env={**os.environ, **ALONE},
            stdin=subprocess.DEVNULL,
        )
    server = Server(ours, process)
    atexit.register(server.end)
    return server


def run(
    *arguments: str | Path,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
    program: Path | None = None,
) -> "subprocess.CompletedProcess[str]":
    """Runs `mobpack` with `arguments` in `folder`, or in this process's, and returns its output.

    `environment`: all its variables; this process's if none are given. `program` is a file of Python to run in place of
    mobpack's own.
    """
    variables = dict(os.environ if environment is None else environment)
    given = [str(each) for each in arguments]
    request: dict[str, object] = {"arguments": given, "folder": str(folder or Path.cwd()), "environment": variables}
    request["program"] = str(program or "")
    request["python"] = vars(channel)["python"]()
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as complaints, Path(os.devnull).open() as nothing:
        code = _server().run(request, [nothing.fileno(), output.fileno(), complaints.fileno()])
        return subprocess.CompletedProcess(["mobpack", *given], code, _text(output), _text(complaints))


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode()


def _serve(requests: socket.socket) -> dict[str, Any]:
    """Answers each request with the exit code of a fork that has run it. Returns in the forks, with the request."""
    while True:
        start, streams, _, _ = socket.recv_fds(requests, 8, 3)
        if not start:
            sys.exit()
        with requests.makefile("rb") as file:
            request: dict[str, Any] = json.loads(file.read(int.from_bytes(start, "little")))
        if not OF_PACKAGES.isdisjoint(request["arguments"]):
            _read_packages()
        pid = os.fork()
        if not pid:
            _become(request, streams)
            return request
        for each in streams:
            os.close(each)
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        requests.sendall(code.to_bytes(8, "little", signed=True))


@cache
def _read_packages() -> None:
    """Reads the files of all installed packages, thousands, so that each fork knows their digests. As any process of
    mobpack, it reads those again that look different since then."""
    with suppress(MobpackError):  # the fork says so itself
        packages.own_code()
        packages.needed(())


def _become(request: Mapping[str, Any], streams: Sequence[int]) -> None:
    """Gives this process what a command has that is started by itself."""
    for number, each in enumerate(streams):
        os.dup2(each, number)
        os.close(each)
    os.environ.clear()
    os.environ.update(request["environment"])
    os.chdir(request["folder"])
    sys.stdin, sys.stdout = os.fdopen(0, encoding="utf-8"), os.fdopen(1, "w", encoding="utf-8")
    sys.stderr = os.fdopen(2, "w", buffering=1, encoding="utf-8", errors="backslashreplace")


def main(descriptor: int) -> None:
    for name in (*MODULES, *LIBRARIES):
        importlib.import_module(name)
    from packager import cli

    gc.freeze()
    with socket.socket(fileno=descriptor) as requests:
        request = _serve(requests)
    for module in (channel, commands):
        vars(module)["python"] = lambda: tuple(request["python"])
    program = request["program"] or str(Path(cli.__file__).with_name("__main__.py"))
    sys.argv = [program, *request["arguments"]]
    runpy.run_path(program, run_name="__main__")


if __name__ == "__main__":
    main(int(sys.argv[1]))
