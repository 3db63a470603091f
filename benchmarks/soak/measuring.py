"""Memory, descriptors and threads of processes, as Linux counts them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

MEMORY_SHARE, MEMORY_MIB = 1.05, 4.0
"""a heap may be that much larger in the last quarter than in the second, without being called a leak"""
MORE = 2
"""descriptors, or threads, more in the last quarter than in the second: some are in use at any moment"""


@dataclass(frozen=True, kw_only=True)
class Sample:
    """Memory, descriptors and threads of processes at a moment."""

    memory_mib: float
    """proportional set sizes: shared pages are divided by those who share them"""
    descriptors: int
    threads: int


def sample(process: int) -> Sample:
    """Everything below a process, without itself."""
    found = [each for each in (_of(child) for child in _below(process)) if each is not None]
    return Sample(
        memory_mib=sum(each.memory_mib for each in found),
        descriptors=sum(each.descriptors for each in found),
        threads=sum(each.threads for each in found),
    )


def _below(process: int) -> Iterator[int]:
    """Processes that still run: processes and threads end at any moment."""
    for task in Path(f"/proc/{process}/task").glob("*/children"):
        try:
            children = task.read_text(encoding="ascii").split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        for child in map(int, children):
            yield child
            yield from _below(child)


def _of(process: int) -> Sample | None:
    """None for a process that has ended meanwhile."""
    folder = Path("/proc") / str(process)
    try:
        lines = (folder / "smaps_rollup").read_text(encoding="ascii").splitlines()
        [kib] = (int(line.split()[1]) for line in lines if line.startswith("Pss:"))
        descriptors, threads = (len(list((folder / name).iterdir())) for name in ("fd", "task"))
    except (FileNotFoundError, ProcessLookupError, ValueError):
        return None
    return Sample(memory_mib=kib / 1024, descriptors=descriptors, threads=threads)


@dataclass(frozen=True, kw_only=True)
class Growth:
    """Medians in the second quarter of a time, when everything has warmed up, and in the last one."""

    before: Sample
    after: Sample

    def faults(self) -> Iterator[str]:
        """Names each that has grown."""
        before, after = self.before, self.after
        if after.memory_mib > before.memory_mib * MEMORY_SHARE + MEMORY_MIB:
            yield f"memory grows from {before.memory_mib:.0f} to {after.memory_mib:.0f} MiB"
        if after.descriptors > before.descriptors + MORE:
            yield f"descriptors grow from {before.descriptors} to {after.descriptors}"
        if after.threads > before.threads + MORE:
            yield f"threads grow from {before.threads} to {after.threads}"


def growth(samples: Sequence[Sample]) -> Growth:
    """Growth of samples in equal distances; at least four."""
    quarter = len(samples) // 4
    return Growth(before=_median(samples[quarter : 2 * quarter]), after=_median(samples[-quarter:]))


def _median(samples: Sequence[Sample]) -> Sample:
    return Sample(
        memory_mib=median(each.memory_mib for each in samples),
        descriptors=round(median(each.descriptors for each in samples)),
        threads=round(median(each.threads for each in samples)),
    )
