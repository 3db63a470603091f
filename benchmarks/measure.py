"""Cost of a command: `python -m benchmarks.measure COMMAND...`.

CPU time and the largest process come from the kernel (wait4 counts the processes that the command started and waited
for). The memory of all processes together is sampled. Import nothing large here: the kernel starts a child's peak at
its parent's.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

SAMPLING_S = 0.005


@dataclass(frozen=True, kw_only=True)
class Cost:
    user_s: float
    system_s: float
    wall_s: float
    largest_process_bytes: int
    """peak resident size of the largest process"""
    all_processes_bytes: int
    """peak of the resident sizes of all processes at one time, shared pages counted in each"""

    @property
    def cpu_s(self) -> float:
        return self.user_s + self.system_s


def run(
    command: Sequence[str | Path], *, cwd: Path | None = None, environment: Mapping[str, str] | None = None
) -> Cost:
    """Runs `command` to its end, with bytecode as users have it. Raises RuntimeError with its output when it fails."""
    with tempfile.TemporaryFile() as output:
        started = time.perf_counter()
        process = subprocess.Popen(
            [str(part) for part in command],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd=cwd,
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "", **(environment or {})},
        )
        sampler = Sampler(process.pid)
        sampler.start()
        _, status, used = os.wait4(process.pid, 0)
        wall_s = time.perf_counter() - started
        sampler.stop()
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            output.seek(0)
            text = output.read().decode(errors="replace")
            raise RuntimeError(f"{' '.join(map(str, command))} failed ({process.returncode}):\n{text}")
    largest = used.ru_maxrss * 1024
    return Cost(
        user_s=used.ru_utime,
        system_s=used.ru_stime,
        wall_s=wall_s,
        largest_process_bytes=largest,
        all_processes_bytes=max(largest, sampler.peak_bytes),
    )


class Sampler(threading.Thread):
    """Adds up the resident sizes of a process and its descendants until it is stopped."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self.pid = pid
        self.peak_bytes = 0
        self._done = threading.Event()

    def run(self) -> None:
        while not self._done.wait(SAMPLING_S):
            self.peak_bytes = max(self.peak_bytes, sum(resident_bytes(pid) for pid in family(self.pid)))

    def stop(self) -> None:
        self._done.set()
        self.join()


def family(pid: int) -> Iterator[int]:
    """`pid` and its living descendants (proc(5), /proc/PID/task/TID/children)."""
    yield pid
    try:
        threads = list(Path(f"/proc/{pid}/task").iterdir())
        children = [child for thread in threads for child in (thread / "children").read_text().split()]
    except OSError:  # it ended meanwhile
        return
    for child in children:
        yield from family(int(child))


def resident_bytes(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * resource.getpagesize()
    except (OSError, IndexError):
        return 0


def interleaved(repetitions: int, measurements: Mapping[str, Callable[[], Cost]]) -> dict[str, Cost]:
    """Median costs; each measurement runs once per round, so that load on a shared machine affects all alike."""
    rounds = [{name: measure() for name, measure in measurements.items()} for _ in range(repetitions)]
    return {name: middle([each[name] for each in rounds]) for name in measurements}


def middle(costs: Sequence[Cost]) -> Cost:
    """The median of every figure on its own."""
    return Cost(
        user_s=median(cost.user_s for cost in costs),
        system_s=median(cost.system_s for cost in costs),
        wall_s=median(cost.wall_s for cost in costs),
        largest_process_bytes=int(median(cost.largest_process_bytes for cost in costs)),
        all_processes_bytes=int(median(cost.all_processes_bytes for cost in costs)),
    )


if __name__ == "__main__":
    print(json.dumps(asdict(run(sys.argv[1:])), indent=2))
