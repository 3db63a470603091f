"""Limits of time and memory for programs that run models and code of others: an endless loop ends, and so does one that
takes all memory. The user sets them, never a project."""

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Timer
from typing import Any

from packager.core.console import size
from packager.core.errors import ConfigError, ModelError

SECONDS, MEMORY = "MOBPACK_MODEL_SECONDS", "MOBPACK_MODEL_MEMORY"
"""Variables of the environment: seconds that a model may run on one sample, and bytes that a program with a model may
take. 0 is not a limit."""
DEFAULT_S = 600.0
SLOW = 10
"""How many times longer opening, converting and compiling a model may take, runs on emulated processors, a framework
that reads and converts a model, and a metric of the user's own for each graph that it measures."""
UNITS = {"": 1, "B": 1, "KB": 1000, "MB": 1000**2, "GB": 1000**3, "TB": 1000**4}
OUT_OF_MEMORY = re.compile(r"bad_alloc|bad allocation|MemoryError|Failed to allocate memory|can't allocate memory")
"""Words of C++, Python, ONNX Runtime and PyTorch; a GPU has other words."""


class OverTimeError(Exception):
    """A program took longer than it may; it was ended."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"more than {seconds:g} s")
        self.seconds = seconds

    def as_error(self, doing: str) -> ModelError:
        """For the user; `doing` says what took so long."""
        return ModelError(
            f"{doing} took more than {self.seconds:g} s and was ended",
            hint=f"it may have an endless loop; if it is only slow, set {SECONDS} to more seconds, or to 0",
        )


def seconds(times: float = 1) -> float | None:
    """The longest time of a run on one sample, as often as `times`; None for any time. Raises ConfigError."""
    text = os.environ.get(SECONDS, "")
    if not text:
        return DEFAULT_S * times
    if not re.fullmatch(r"\d{1,9}(\.\d+)?", text):
        raise ConfigError(f"{SECONDS}: '{text}' is not a number of seconds", hint=f"for example: {SECONDS}=1800")
    return float(text) * times or None


def memory_bytes() -> int:
    """The most that a program with a model may take, by default all memory of this machine; 0 if it may take any.
    Raises ConfigError."""
    text = os.environ.get(MEMORY, "")
    if not text:
        return _of_this_machine() if sys.platform == "linux" else 0
    found = re.fullmatch(r"(\d{1,15}(?:\.\d+)?) ?([KMGT]?B)?", text.upper())
    if not found:
        raise ConfigError(f"{MEMORY}: '{text}' is not a size", hint=f"for example: {MEMORY}=8GB")
    return int(float(found[1]) * UNITS[found[2] or ""])


def _of_this_machine() -> int:
    """Memory and swap: whatever takes more is ended by the system, or gets another program ended."""
    with suppress(OSError):
        text = Path("/proc/meminfo").read_text(encoding="ascii")
        found = re.findall(r"^(?:MemTotal|SwapTotal): +(\d+) kB", text, re.MULTILINE)
        return sum(map(int, found)) * 1024
    return 0


def limit(process: int, most: int) -> None:
    """Limits the memory of a process that has just begun, where the system can: on Linux. 0 is not a limit."""
    if sys.platform != "linux" or not most:
        return
    import resource

    with suppress(ProcessLookupError, PermissionError):  # it has ended; or another user runs it
        _, hard = resource.prlimit(process, resource.RLIMIT_DATA)
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.prlimit(process, resource.RLIMIT_DATA, (most, hard))


@contextmanager
def ended_after(longest_s: float | None, end: Any) -> Iterator[None]:
    """Calls `end()`, which ends a program, if the block takes longer; raises OverTimeError after it then."""
    if longest_s is None:
        yield
        return
    is_over = Event()

    def over() -> None:
        is_over.set()
        end()

    timer = Timer(longest_s, over)
    timer.daemon = True
    timer.start()
    try:
        yield
    except Exception as error:
        if is_over.is_set():
            raise OverTimeError(longest_s) from error
        raise
    finally:
        timer.cancel()
        timer.join()  # a process with one thread can be copied
    if is_over.is_set():
        raise OverTimeError(longest_s)


def refuse_no_memory(complaints: str) -> None:
    """Raises ModelError if memory ran out in a program that has failed, by the last line that it printed."""
    last = complaints.strip().splitlines()[-1:]
    if last and OUT_OF_MEMORY.search(last[0]):
        raise ModelError(
            explained(last[0]), hint=f"close other programs, or set {MEMORY} to more where that limit ended the program"
        )


def explained(text: str) -> str:
    """An error of a program with a model; if memory ran out, it begins with that, and with the limit."""
    if not OUT_OF_MEMORY.search(text):
        return text
    most = memory_bytes()
    limited = f"; {MEMORY} allows {size(most)}" if most else ""
    return f"memory ran out{limited} ({text})"
