"""Runs a program of mobpack in a copy of this process, where that is sound: it need not import again what is imported.

A copy has memory of its own and may crash alone, as a new process; Linux makes one in milliseconds. It has the calling
thread alone: a lock that another thread holds stays locked in it for ever (fork(2)), so that a process with several
threads makes none. Neither does macOS, whose frameworks refuse to work in copies, nor Windows, which has none.
"""

import os
import select
import signal
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import NoReturn, TextIO

from packager.files.processes import children, limits
from packager.files.processes.groups import Copy
from packager.files.processes.inherited import MODELS

THREADS, FILES = Path("/proc/self/task"), Path("/proc/self/fd")
STANDARD_ERROR = 2
STOPPING = (signal.SIGINT, signal.SIGTERM)
_replaced: list[object] = []
"""Streams that a copy no longer uses: without a reference, they would close the files that now have their numbers."""


def are_sound() -> bool:
    """Whether a copy of this process would work."""
    return sys.platform == "linux" and THREADS.is_dir() and sum(1 for _ in THREADS.iterdir()) == 1


def run(
    module: str, arguments: Sequence[str], folder: Path, longest_s: float | None = None
) -> "subprocess.CompletedProcess[str]":
    """Runs `main()` of a module of mobpack to its end, in a copy of this process whose working folder is `folder`.

    Returns what it printed; its exit code is 1 if `main` raises, and minus the signal if one ends it. It ends with this
    process, however this one ends, as every program does. Raises OverTimeError if it runs for longer than `longest_s`.
    Call it only if copies `are_sound`.
    """
    memory = [_memory(name) for name in ("output", "complaints")]
    try:
        return_code = _copied(lambda: _be(module, arguments, folder, memory), longest_s)
        output, complaints = map(_content, memory)
    finally:
        for each in memory:
            os.close(each)
    return subprocess.CompletedProcess([module, *arguments], return_code, output, complaints)


def _copied(program: Callable[[], object], longest_s: float | None) -> int:
    """Runs `program`, which ends its process, in a copy of this one; returns its exit code, minus the signal that ended
    it.

    No signal raises KeyboardInterrupt in the copy, which would then do what this process does after one.
    """
    most_bytes = limits.memory_bytes()
    groups = children.groups()
    groups.prepare()
    with _held_back(STOPPING) as let_through:
        number = os.fork()
        if number == 0:
            _end_with(program, let_through)
        copy = Copy(number)
        with suppress(ProcessLookupError):
            os.setpgid(number, number)  # whoever of the two is first
        try:
            groups.watch(copy)
            let_through()
            limits.limit(number, most_bytes)
            _wait(number, longest_s)
            return os.waitstatus_to_exitcode(os.waitpid(number, 0)[1])
        except BaseException:
            groups.kill(copy)
            os.waitpid(number, 0)
            raise
        finally:
            groups.forget(copy)


def _wait(number: int, longest_s: float | None) -> None:
    """Waits for the end of a process. Raises OverTimeError if that takes longer than it may."""
    if longest_s is None:
        return
    try:
        process = os.pidfd_open(number)
    except OSError:  # a kernel before Linux 5.3, or one that stands in for Linux: without a deadline
        return
    try:
        is_ended, _, _ = select.select([process], [], [], longest_s)
    finally:
        os.close(process)
    if not is_ended:
        raise limits.OverTimeError(longest_s)


@contextmanager
def _held_back(signals: Iterable[int]) -> Iterator[Callable[[], None]]:
    """Holds back `signals` until the block ends, or until the function is called that it yields: once here, and once in
    a copy that is made meanwhile."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signals)

    def let_through() -> None:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)

    try:
        yield let_through
    finally:
        let_through()


def _end_with(program: Callable[[], object], let_through: Callable[[], None]) -> NoReturn:
    """Runs `program`, which ends its process, in the copy."""
    try:
        os.setpgid(0, 0)
        for each in STOPPING:
            signal.signal(each, signal.SIG_DFL)
        let_through()
        program()
    finally:
        os._exit(1)


def _standard(number: int, mode: str) -> TextIO:
    return open(number, mode, encoding="utf-8", errors="backslashreplace", closefd=False)  # type: ignore[return-value]


def _memory(name: str) -> int:
    """A file in memory, whose number is none of the standard ones, though this process may lack these."""
    import fcntl

    first = os.memfd_create(name)
    try:
        return fcntl.fcntl(first, fcntl.F_DUPFD_CLOEXEC, STANDARD_ERROR + 1)
    finally:
        os.close(first)


def _content(memory: int) -> str:
    os.lseek(memory, 0, os.SEEK_SET)
    with open(memory, encoding="utf-8", errors="replace", closefd=False) as file:
        return file.read()


def _be(module: str, arguments: Sequence[str], folder: Path, memory: Sequence[int]) -> None:
    """Runs `main()` in the copy, with files as in a new process; ends the copy."""
    nothing = os.open(os.devnull, os.O_RDONLY)
    for number, file in enumerate((nothing, *memory)):
        os.dup2(file, number)
    for number in [int(path.name) for path in FILES.iterdir()]:  # whoever waits for the end of one waits for the copy
        if number > STANDARD_ERROR:
            with suppress(OSError):  # that of the folder itself
                os.close(number)
    _replaced.extend((sys.stdin, sys.stdout, sys.stderr))
    sys.stdin, sys.stdout, sys.stderr = (_standard(number, mode) for number, mode in enumerate("rww"))
    code = 1
    try:
        os.chdir(folder)
        known = children.variables({}, MODELS)
        for name in os.environ.keys() - known.keys():
            del os.environ[name]
        os.environ.update(known)
        sys.argv = [module, *arguments]
        import_module(module).main()
        code = 0
    except BaseException:
        traceback.print_exc()
    with suppress(OSError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)
