"""Times runs of a model in the process that has it open. Needs the standard library alone.

Programs in this Python import it; `session_child.py`, which other interpreters run, loads it by its path. The request
is `{"sample": .npz, "pace": {...}}` with the fields of `Pace` in runners/runner.py; `measured` gives the answer.
"""

import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

STATUS = Path("/proc/self/status")
WINDOW = 5
"""Number of runs in a row whose median is compared with that of as many before."""
STABLE = 0.05
"""Largest difference of the two medians, as a share, at which warm-up ends."""


def measured(run: Callable[[], object], pace: Mapping[str, Any]) -> dict[str, Any]:
    """Warms up and times `run`, a function of no arguments: the answer to a request for times.

    `times_ns` and `warm_up_ns` are the clock's nanoseconds of each call, `cpu_ns` the CPU time of this process during
    the timed ones, threads of the runtime included, and `peak_bytes` its largest memory so far, or None if the system
    does not tell.
    """
    warm_up = warmed_up(run, pace)
    before = time.process_time_ns()
    times = repeated(run, pace["seconds"], pace["runs"], pace["least_runs"])
    cpu = time.process_time_ns() - before
    return {"error": "", "warm_up_ns": warm_up, "times_ns": times, "cpu_ns": cpu, "peak_bytes": peak_bytes()}


def warmed_up(run: Callable[[], object], pace: Mapping[str, Any]) -> list[int]:
    """Times of runs until two windows of them have equal medians, or the time for it is over."""
    times: list[int] = []
    end = time.perf_counter_ns() + int(pace["warm_up_seconds"] * 1e9)
    while not is_stable(times):
        times.append(timed(run))
        if time.perf_counter_ns() >= end:
            break
    return times


def is_stable(times: list[int]) -> bool:
    """Whether the medians of the last two windows of `times` are about equal."""
    if len(times) < 2 * WINDOW:
        return False
    before, after = middle(times[-2 * WINDOW : -WINDOW]), middle(times[-WINDOW:])
    return abs(after - before) <= STABLE * before


def middle(times: list[int]) -> int:
    return sorted(times)[len(times) // 2]


def repeated(run: Callable[[], object], seconds: float, runs: int, least_runs: int) -> list[int]:
    """Times of `run`: at most `runs` of them, and no more once `seconds` are over and there are `least_runs`."""
    times: list[int] = []
    end = time.perf_counter_ns() + int(seconds * 1e9)
    while len(times) < runs and (len(times) < least_runs or time.perf_counter_ns() < end):
        times.append(timed(run))
    return times


def timed(run: Callable[[], object]) -> int:
    """Nanoseconds of one call."""
    start = time.perf_counter_ns()
    run()
    return time.perf_counter_ns() - start


def peak_bytes() -> "int | None":
    """Largest resident memory of this process so far; None if the system does not tell."""
    found = of_status("VmHWM")
    if found is not None:
        return found
    try:
        import resource
    except ImportError:  # Windows
        return None
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def resident_bytes() -> "int | None":
    """Resident memory of this process now; None if the system does not tell."""
    return of_status("VmRSS")


def of_status(key: str) -> "int | None":
    """A number of bytes in Linux's description of this process; None on other systems."""
    try:
        lines = STATUS.read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith(key + ":")), None)
