"""Rows and goals of `benchmarks.quantize`, and how both are printed."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import isfinite

from benchmarks.convert import cpu
from benchmarks.measure import Cost

LEAST_ABOVE = 0.1
"""Smallest share of the base by which a figure must exceed it before ratios above the base mean anything."""


@dataclass(frozen=True, kw_only=True)
class Goal:
    """Goals as multiples of the other side's cost; None for no goal."""

    cpu: float | None = None
    memory: float | None = None
    more_bytes: int | None = None
    """most bytes of memory beyond the other side's"""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """Cost and quality of one side of a comparison, or the reason why there are none."""

    cost: Cost | None = None
    base: Cost | None = None
    """the same for a model of a few kB: starts, imports, reading the code"""
    error: str = ""
    noise_db: float | None = None
    """signal to quantization noise ratio of its result against the float model"""


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """One piece of work done by both."""

    work: str
    model: str
    other: str
    ours: Outcome
    theirs: Outcome
    goal: Goal = field(default_factory=Goal)
    repetitions: int = 1

    @property
    def cpu_ratio(self) -> float | None:
        return divided(self.ours.cost, self.theirs.cost, "cpu_s")

    @property
    def cpu_above(self) -> float | None:
        """Ratio of the CPU time of both sides above their base."""
        return divided(self.ours.cost, self.theirs.cost, "cpu_s", self.ours.base, self.theirs.base)

    @property
    def user_ratio(self) -> float | None:
        """Without time in the kernel, which is mostly page faults and depends on the machine most."""
        return divided(self.ours.cost, self.theirs.cost, "user_s")

    @property
    def memory_ratio(self) -> float | None:
        return divided(self.ours.cost, self.theirs.cost, "all_processes_bytes")

    @property
    def more_bytes(self) -> int | None:
        """Memory that ours takes beyond theirs."""
        if self.ours.cost is None or self.theirs.cost is None:
            return None
        return self.ours.cost.all_processes_bytes - self.theirs.cost.all_processes_bytes

    @property
    def memory_above(self) -> float | None:
        return divided(self.ours.cost, self.theirs.cost, "all_processes_bytes", self.ours.base, self.theirs.base)


@dataclass(frozen=True, kw_only=True)
class Stage:
    """The rewriting alone, beside a plain copy of the model's files."""

    work: str
    model: str
    ours: Outcome
    copy: Outcome
    wall_goal: float = 2.0
    """times the copy"""
    peak_goal_bytes: int = 256_000_000
    repetitions: int = 1

    @property
    def wall_ratio(self) -> float | None:
        return divided(self.ours.cost, self.copy.cost, "wall_s")

    @property
    def wall_above(self) -> float | None:
        return divided(self.ours.cost, self.copy.cost, "wall_s", self.ours.base, self.copy.base)

    @property
    def peak_bytes(self) -> int | None:
        return self.ours.cost.all_processes_bytes if self.ours.cost else None

    @property
    def peak_above_bytes(self) -> int | None:
        if self.peak_bytes is None or self.ours.base is None:
            return None
        return max(0, self.peak_bytes - self.ours.base.all_processes_bytes)


def divided(
    ours: Cost | None, theirs: Cost | None, figure: str, base: Cost | None = None, their_base: Cost | None = None
) -> float | None:
    """The ratio of `figure`, of either side what lies above its base. 0 where ours has nothing above it, None where
    the other side has hardly anything: that were a ratio of noise."""
    if ours is None or theirs is None:
        return None
    floor, their_floor = (getattr(cost, figure) if cost else 0 for cost in (base, their_base))
    above, their_above = getattr(ours, figure) - floor, getattr(theirs, figure) - their_floor
    return max(0.0, above / their_above) if their_above > LEAST_ABOVE * their_floor else None


def judged(value: float | None, goal: float | None, *, failed: bool = False) -> str:
    """`value` with the verdict on its goal; `failed` is for work that gave no figure."""
    if goal is None or (value is None and not failed):
        return "-" if value is None else f"{value:.2f}"
    if value is None or not isfinite(value):
        return f"- (goal {goal:g}: missed)"
    return f"{value:.2f} (goal {goal:g}: {'met' if value <= goal else 'missed'})"


def comparison_table(rows: Iterable[Comparison]) -> Iterable[str]:
    yield (
        "| work | model | against | CPU s (user + system) | theirs | CPU ratio | above | user ratio | wall s | theirs "
        "| peak MB | theirs | memory ratio | above | MB more | SQNR dB | theirs | runs |"
    )
    yield "|" + "---|" * 5 + "--:|" * 13
    for row in rows:
        failed = bool(row.ours.error)
        cells = [
            row.work,
            row.model,
            row.other,
            row.ours.error or costs(row.ours),
            row.theirs.error or costs(row.theirs),
            judged(row.cpu_ratio, row.goal.cpu, failed=failed),
            judged(row.cpu_above, row.goal.cpu, failed=failed),
            judged(row.user_ratio, None),
            *(wall(each) for each in (row.ours, row.theirs)),
            *(megabytes(each) for each in (row.ours, row.theirs)),
            judged(row.memory_ratio, row.goal.memory, failed=failed),
            judged(row.memory_above, row.goal.memory, failed=failed),
            in_megabytes(row.more_bytes, row.goal.more_bytes, failed=failed),
            *(decibels(each) for each in (row.ours, row.theirs)),
            str(row.repetitions),
        ]
        yield line(cells)


def stage_table(rows: Iterable[Stage]) -> Iterable[str]:
    yield (
        "| stage | model | wall s | cp, wall s | wall ratio | above | CPU s (user + system) | cp "
        "| peak MB | above | runs |"
    )
    yield "|---|---|--:|--:|--:|--:|---|---|--:|--:|--:|"
    for row in rows:
        failed = bool(row.ours.error)
        yield line(
            [
                row.work,
                row.model,
                row.ours.error or wall(row.ours),
                row.copy.error or wall(row.copy),
                judged(row.wall_ratio, row.wall_goal, failed=failed),
                judged(row.wall_above, row.wall_goal, failed=failed),
                costs(row.ours),
                costs(row.copy),
                *(
                    in_megabytes(size, row.peak_goal_bytes, failed=failed)
                    for size in (row.peak_bytes, row.peak_above_bytes)
                ),
                str(row.repetitions),
            ]
        )


def in_megabytes(size: int | None, goal: int | None, *, failed: bool) -> str:
    value, limit = (None if each is None else each / 1e6 for each in (size, goal))
    return judged(None if value is None else round(value), limit, failed=failed).replace(".00", "")


def line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"


def costs(outcome: Outcome) -> str:
    return cpu(outcome.cost) if outcome.cost else "-"


def wall(outcome: Outcome) -> str:
    return f"{outcome.cost.wall_s:.2f}" if outcome.cost else "-"


def megabytes(outcome: Outcome) -> str:
    return f"{outcome.cost.all_processes_bytes / 1e6:.0f}" if outcome.cost else "-"


def decibels(outcome: Outcome) -> str:
    return "-" if outcome.noise_db is None else f"{outcome.noise_db:.1f}"
