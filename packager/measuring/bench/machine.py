"""The machine that measures: its cores, what else runs on it, and threads on cores of their own."""

import os
import platform
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

CPUINFO = Path("/proc/cpuinfo")
STAT = Path("/proc/stat")
QUOTA = Path("/sys/fs/cgroup/cpu.max")
CORES = Path("/sys/devices/system/cpu")
MODEL = re.compile(r"^model name\s*:\s*(.+)$", re.MULTILINE)
BUSY = 0.2
"""Share of a core's time in other programs from which a warning tells of it."""
STEAL_SHARE = 0.01
"""Share of the time that the host took from this virtual machine from which a warning tells of it."""


@dataclass(frozen=True, kw_only=True)
class Ticks:
    """Time of all cores since the system started, in its ticks."""

    total: int
    idle: int
    steal: int


@dataclass(frozen=True, kw_only=True)
class Machine:
    """Facts about the machine that decide what times mean."""

    processor: str
    architecture: str
    system: str
    cores: int
    """that this process may use"""
    governor: str
    """policy of the clock frequency; empty if the system does not tell"""
    quota: float | None
    """cores' worth of time that a container has; None without a limit"""


def machine() -> Machine:
    return Machine(
        processor=_processor(),
        architecture=platform.machine(),
        system=f"{platform.system()} {platform.release()}",
        cores=len(usable_cores()),
        governor=_text(CORES / "cpu0" / "cpufreq" / "scaling_governor"),
        quota=_quota(),
    )


def usable_cores() -> tuple[int, ...]:
    """Numbers of the cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return tuple(sorted(os.sched_getaffinity(0)))
    return tuple(range(os.cpu_count() or 1))


def chosen_cores(threads: int) -> tuple[int, ...]:
    """Cores for `threads`: one of each physical core first, the last ones first, as systems prefer the first for their
    own work. All usable ones if there are fewer."""
    taken: set[str] = set()
    first: list[int] = []
    second: list[int] = []
    for core in reversed(usable_cores()):
        siblings = _text(CORES / f"cpu{core}" / "topology" / "thread_siblings_list") or str(core)
        (second if siblings in taken else first).append(core)
        taken.add(siblings)
    return tuple(sorted([*first, *second][:threads]))


def can_pin() -> bool:
    """Whether the system lets a program choose its cores."""
    return hasattr(os, "sched_setaffinity")


@contextmanager
def pinned(cores: Sequence[int]) -> Iterator[None]:
    """Pins this thread, and with it the programs that it starts meanwhile, if the system can."""
    if not can_pin():
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def load_average() -> float | None:
    """Average number of running programs over the last minute; None if the system does not tell."""
    try:
        return os.getloadavg()[0]
    except (AttributeError, OSError):
        return None


def ticks() -> Ticks | None:
    """None if the system does not tell."""
    line = _text(STAT).partition("\n")[0].split()
    if len(line) < 9:
        return None
    numbers = [int(each) for each in line[1:9]]
    return Ticks(total=sum(numbers), idle=numbers[3] + numbers[4], steal=numbers[7])


def steal_share(before: Ticks | None, after: Ticks | None) -> float | None:
    """Share of the time between two readings that the host gave to other virtual machines."""
    if before is None or after is None or after.total <= before.total:
        return None
    return (after.steal - before.steal) / (after.total - before.total)


def disturbances(found: Machine, *, threads: int, load: float | None, steal: float | None) -> Iterator[str]:
    """Sentences about what makes times of this machine uncertain; `load` is from before the measurement."""
    if load is not None and load >= BUSY * max(1, found.cores):
        yield f"other programs ran before the measurement: load average {load:.1f} on {found.cores} cores"
    if steal is not None and steal >= STEAL_SHARE:
        yield f"the host took {steal:.0%} of this virtual machine's time"
    if found.governor and found.governor != "performance":
        yield f"the CPU's frequency follows the governor '{found.governor}': times vary with its temperature and load"
    if found.quota is not None and found.quota < threads:
        yield f"this container may use {found.quota:g} cores' worth of time, for {threads} threads"


def _processor() -> str:
    found = MODEL.search(_text(CPUINFO))
    return found.group(1).strip() if found else platform.processor() or platform.machine()


def _quota() -> float | None:
    limit, _, period = _text(QUOTA).partition(" ")
    return int(limit) / int(period) if limit.isdigit() and period.isdigit() else None


def _text(path: Path) -> str:
    """The text of a file of the system; empty if it has none."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
