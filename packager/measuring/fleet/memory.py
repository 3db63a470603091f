"""Ends the programs of a task that take more memory than its worker has."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

INTERVAL_S = 0.25


@dataclass
class Watched:
    """Memory of this process and of all programs that it started, at its largest."""

    peak_bytes: int = 0
    is_over: bool = False


@contextmanager
def watched(limit_bytes: float) -> Iterator[Watched]:
    """Measures until the block ends, four times a second. Above `limit_bytes` (0: no limit) it kills the programs that
    this process has started: the step that waits for them then fails."""
    found = Watched()
    stop = threading.Event()
    thread = threading.Thread(target=_watch, args=(found, limit_bytes, stop), daemon=True)
    thread.start()
    try:
        yield found
    finally:
        stop.set()
        thread.join()


def memory_of_worker() -> float:
    """Bytes that the worker which runs this task may take; 0 for no limit, or where no worker runs it."""
    from distributed import get_worker

    try:
        return float(get_worker().memory_manager.memory_limit or 0)
    except ValueError:
        return 0


def _watch(found: Watched, limit_bytes: float, stop: threading.Event) -> None:
    import psutil  # comes with Dask

    own = psutil.Process()
    while not stop.wait(INTERVAL_S):
        programs = own.children(recursive=True)
        used = own.memory_info().rss
        for each in programs:
            with suppress(psutil.Error):
                used += each.memory_info().rss
        found.peak_bytes = max(found.peak_bytes, used)
        if limit_bytes and used > limit_bytes:
            found.is_over = True
            for each in programs:
                with suppress(psutil.Error):
                    if each.name() not in ("sh", "dash"):  # the guard of the programs
                        each.kill()
