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
from threading import Lock
from typing import NoReturn, TextIO

from packager.files.processes import children, limits
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
    files = [_nothing(), *(_above(os.memfd_create(name)) for name in ("output", "complaints"))]
    try:
        copy = _begun(lambda: _be(module, arguments, folder, files))
        try:
            return_code = copy.wait(longest_s)
        except subprocess.TimeoutExpired as error:
            raise limits.OverTimeError(error.timeout) from error
        finally:
            children.end(copy)
        output, complaints = map(_content, files[1:])
    finally:
        for each in files:
            os.close(each)
    return subprocess.CompletedProcess([module, *arguments], return_code, output, complaints)


class Copy:
    """A copy of this process that runs a program."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.stdin: TextIO | None = None
        self.stdout: TextIO | None = None
        self.returncode: int | None = None
        self._lock = Lock()

    def poll(self) -> int | None:
        """The exit code, minus the signal that ended it; None while it runs, or while another thread waits for it."""
        if self.returncode is None and self._lock.acquire(blocking=False):
            try:
                self._look(os.WNOHANG)
            finally:
                self._lock.release()
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """The exit code. Raises TimeoutExpired like a process that was started."""
        with self._lock:
            if self.returncode is None and not _ends(self.pid, timeout):
                raise subprocess.TimeoutExpired(str(self.pid), timeout or 0)
            self._look(0)
        assert self.returncode is not None
        return self.returncode

    def _look(self, options: int) -> None:
        if self.returncode is None:
            number, status = os.waitpid(self.pid, options)
            if number:
                self.returncode = os.waitstatus_to_exitcode(status)


def start(module: str, arguments: Sequence[str], folder: Path, complaints: int) -> Copy:
    """Starts `main()` of a module like `run`, with pipes for what it reads and prints; its standard error is the open
    file `complaints`. Pass the copy to `children.end` when done."""
    reading, requests = map(_above, os.pipe())
    answers, writing = map(_above, os.pipe())
    files = (reading, writing, _above(os.dup(complaints)))
    try:
        copy = _begun(lambda: _be(module, arguments, folder, files))
    except BaseException:
        os.close(requests)
        os.close(answers)
        raise
    finally:
        for each in files:
            os.close(each)
    copy.stdin = os.fdopen(requests, "w", encoding="utf-8")
    copy.stdout = os.fdopen(answers, encoding="utf-8", errors="replace")
    return copy


def _begun(program: Callable[[], object]) -> Copy:
    """A copy of this process that runs `program`, which ends it.

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
        except BaseException:
            children.end(copy)
            raise
        return copy


def _ends(number: int, longest_s: float | None) -> bool:
    """Whether a process ends before `longest_s` are over."""
    if longest_s is None:
        return True
    try:
        process = os.pidfd_open(number)
    except OSError:  # a kernel before Linux 5.3, or one that stands in for Linux: without a deadline
        return True
    try:
        is_ended, _, _ = select.select([process], [], [], longest_s)
    finally:
        os.close(process)
    return bool(is_ended)


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


def _nothing() -> int:
    return _above(os.open(os.devnull, os.O_RDONLY))


def _above(first: int) -> int:
    """The open file `first` under a number that is none of the standard ones, though this process may lack these."""
    import fcntl

    try:
        return fcntl.fcntl(first, fcntl.F_DUPFD_CLOEXEC, STANDARD_ERROR + 1)
    finally:
        os.close(first)


def _content(memory: int) -> str:
    os.lseek(memory, 0, os.SEEK_SET)
    with open(memory, encoding="utf-8", errors="replace", closefd=False) as file:
        return file.read()


def _be(module: str, arguments: Sequence[str], folder: Path, files: Sequence[int]) -> None:
    """Runs `main()` in the copy, with three `files` as its standard ones; ends the copy."""
    for number, file in enumerate(files):
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
