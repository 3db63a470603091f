"""The server and the clients of `forks.py`: `fork_server.py --serve SOCKET PYTHON MODULE ...`, and `fork_server.py
SOCKET PROGRAM ...`, which PYTHON runs.

The server ends with its standard input, a pipe whose other end the process of the tests has: however that process ends,
the pipe ends with it. Clients start hundreds of times: they import what Python has built in.
"""

import array
import gc
import importlib
import marshal
import os
import runpy
import signal
import sys
from _socket import AF_UNIX, SCM_RIGHTS, SOCK_STREAM, SOL_SOCKET, socket
from contextlib import suppress

STARTING = ("packager.files.processes.channel", "packager.files.processes.commands")
"""Modules that start programs."""
GRACE_S = 60
"""Time that the server gives its forks to end."""


def ask(place: str, arguments: list[str]) -> int:
    """Stands for a program: hands its own streams over, and returns the exit code."""
    server = socket(AF_UNIX, SOCK_STREAM)
    server.connect(place)
    mask = os.umask(0)
    text = marshal.dumps((arguments, os.getcwd(), dict(os.environ), os.getpgid(0), mask))  # noqa: PTH109
    server.sendmsg([len(text).to_bytes(8, "little")], [(SOL_SOCKET, SCM_RIGHTS, array.array("i", [0, 1, 2]))])
    server.sendall(text)
    answer = server.recv(8)
    code = int.from_bytes(answer, "little", signed=True) if answer else 1
    if code < 0:
        with suppress(OSError):  # SIGKILL has no other handler
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    return code


def serve(place: str, python: str, modules: list[str]) -> list[str]:
    """Imports modules, then forks for each client, until its standard input ends. Returns in the programs, with their
    arguments."""
    for name in modules:
        importlib.import_module(name)
    _fork_programs((python, "-SE", __file__, place))
    gc.freeze()
    import select
    import socket as sockets

    listening = sockets.socket(AF_UNIX, SOCK_STREAM)
    listening.bind(place)
    listening.listen(16)
    print("ready", flush=True)
    signal.signal(signal.SIGCHLD, _forget)
    while sys.stdin not in select.select([listening, sys.stdin], [], [])[0]:
        client, _ = listening.accept()
        if not os.fork():
            listening.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            return _started(client)
        client.close()
    _await_forks()
    sys.exit()


def _fork_programs(client: tuple[str, ...]) -> None:
    """Has programs that a fork starts be forks, too."""
    for name in STARTING:
        if name in sys.modules:
            vars(sys.modules[name])["python"] = lambda: client


def _await_forks() -> None:
    """Waits for all forks: their time on a processor then counts for the process that waits for the server."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.alarm(GRACE_S)
    with suppress(ChildProcessError):
        while True:
            os.wait()


def _forget(number: int, frame: object) -> None:
    """Takes note of processes that have ended."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _started(client: socket) -> list[str]:
    """Returns in the program; the process that waits for it ends here."""
    start, control, _, _ = client.recvmsg(8, 1024)
    streams = array.array("i", control[0][2])
    text = b""
    while len(text) < int.from_bytes(start, "little"):
        text += client.recv(65536)
    arguments, folder, environment, group, mask = marshal.loads(text)
    pid = os.fork()
    if pid:
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        with suppress(BrokenPipeError):  # somebody has ended the client
            client.sendall(code.to_bytes(8, "little", signed=True))
        os._exit(0)
    client.close()
    os.setpgid(0, group)
    os.umask(mask)
    for number, each in enumerate(streams):
        os.dup2(each, number)
        os.close(each)
    os.environ.clear()
    os.environ.update(environment)
    sys.path[:0] = [each for each in environment.get("PYTHONPATH", "").split(os.pathsep) if each not in ("", *sys.path)]
    os.chdir(folder)
    sys.stdin, sys.stdout = os.fdopen(0, encoding="utf-8"), os.fdopen(1, "w", encoding="utf-8")
    sys.stderr = os.fdopen(2, "w", buffering=1, encoding="utf-8", errors="backslashreplace")
    return list(arguments)


def run(arguments: list[str]) -> None:
    """`-m MODULE ...`, `-c CODE ...`, or the path of a program and its arguments."""
    if arguments[0] == "-c":
        sys.argv = ["-c", *arguments[2:]]
        exec(compile(arguments[1], "<string>", "exec"), {"__name__": "__main__"})
    elif arguments[0] == "-m":
        sys.argv = arguments[1:]
        sys.modules.pop(sys.argv[0], None)
        runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
    else:
        sys.argv = arguments
        runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    if sys.argv[1] == "--serve":
        run(serve(sys.argv[2], sys.argv[3], sys.argv[4:]))
    else:
        sys.exit(ask(sys.argv[1], sys.argv[2:]))
