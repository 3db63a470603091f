"""Runs a Java program in a process that stays for the next one, or else in one of its own.

usage: FOLDER CLASSES ROOT JAVA... -cp PATH MAIN ARGUMENTS...

FOLDER has the sockets of the processes, and ends them when it is removed; each serves one run at a time. CLASSES has
their classes, which `python -m tests.toolchain.warm_java` makes in the folder ROOT.
"""

import fcntl
import os
import socket
import struct
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

PROGRAMS = frozenset(
    (
        "ManifestMergeKt",
        "com.android.tools.build.bundletool.BundleToolMain",
        "com.android.tools.r8.D8",
        "com.android.tools.r8.R8",
        "org.jetbrains.kotlin.cli.jvm.K2JVMCompiler",
    )
)
"""Main classes of programs that may run many times in one process."""
PROCESSES = 8
START_S = 120.0
PATIENCE_S = 10.0
"""Time to wait for a process that is warm: one more takes about 10 s of a processor until it is, too, once in a test
run; a worker that waits leaves its processor idle each time."""
LOOK_S = 0.02
MEMORY = ("-Xmx2g", "-XX:ReservedCodeCacheSize=128m")
TRUSTED = ("-XX:+UnlockDiagnosticVMOptions", "-XX:-BytecodeVerificationRemote")
"""Classes of pinned programs are not verified each time that they are loaded, which is a tenth of a run."""


def main() -> None:
    folder, classes, root = map(Path, sys.argv[1:4])
    command = sys.argv[4:]
    at = command.index("-cp")
    java, (path, program, *arguments) = command[:at], command[at + 1 :]
    if program in PROGRAMS and folder.is_dir():
        with suppress(OSError):
            _make(classes, root)
            server = [*java, *MEMORY, *TRUSTED, "-cp", f"{classes}/*", "warm.ServeKt"]
            ended = _ask(folder, server, [path, program, *_absolute(arguments)])
            if ended:
                sys.exit(_told(*ended))
    os.execv(command[0], command)


def _absolute(arguments: list[str]) -> list[str]:
    """Arguments with the whole paths of files: the process that stays has another working folder."""
    found = []
    for number, each in enumerate(arguments):
        is_path = each and not each.startswith("-") and (Path(each).exists() or arguments[number - 1] == "-d")
        found.append(str(Path.cwd() / each) if is_path else each)
    return found


def _make(classes: Path, root: Path) -> None:
    if not classes.is_dir():
        subprocess.run([sys.executable, "-m", "tests.toolchain.warm_java"], cwd=root, check=False)


def _ask(folder: Path, server: list[str], words: list[str]) -> tuple[int, bytes, bytes] | None:
    """Exit code, output and errors of a run in the first process that is free; None if it ended without an answer.

    Another process begins when those that run have been busy for PATIENCE_S.
    """
    end = time.monotonic() + PATIENCE_S
    while folder.is_dir():
        for number in range(PROCESSES):
            place = folder / f"{number}.socket"
            if number and not place.exists() and time.monotonic() < end:
                break
            with place.with_suffix(".lock").open("a") as lock:
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    continue
                with _connected(place, server) as connection:
                    return _answer(connection, "\0".join(words).encode())
        time.sleep(LOOK_S)
    return None


def _connected(place: Path, server: list[str]) -> socket.socket:
    """A connection to the process at the socket, which is started if it is not there. Raises OSError."""
    with suppress(OSError):
        return _connect(place)
    place.unlink(missing_ok=True)
    with place.with_suffix(".log").open("ab") as log:
        process = subprocess.Popen(
            [*server, str(place)],
            env={**os.environ, "LC_ALL": "C.UTF-8"},
            cwd=place.parent,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    end = time.monotonic() + START_S
    while process.poll() is None and time.monotonic() < end:
        with suppress(OSError):
            return _connect(place)
        time.sleep(0.02)
    raise ConnectionError(str(place))


def _connect(place: Path) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.connect(str(place))
    except OSError:
        connection.close()
        raise
    return connection


def _answer(connection: socket.socket, request: bytes) -> tuple[int, bytes, bytes] | None:
    connection.sendall(struct.pack(">i", len(request)) + request)
    with connection.makefile("rb") as stream:
        texts = []
        for _ in range(2):
            size = stream.read(4)
            texts.append(stream.read(*struct.unpack(">i", size)) if len(size) == 4 else b"")
        code = stream.read(4)
    return (struct.unpack(">i", code)[0], *texts) if len(code) == 4 else None


def _told(code: int, output: bytes, errors: bytes) -> int:
    """Prints what a program printed in this working folder, and returns its exit code."""
    here = f"{Path.cwd()}/".encode()
    sys.stdout.buffer.write(output.replace(here, b""))
    sys.stderr.buffer.write(errors.replace(here, b""))
    sys.stdout.flush()
    return code


if __name__ == "__main__":
    main()
