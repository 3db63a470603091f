"""Results in words, for the terminal and the page."""

from collections.abc import Iterator, Sequence

from packager.bench.document import BenchDocument, ComparisonEntry, RowEntry
from packager.core.console import size
from packager.pages.numbers import plural
from packager.verification.parity import FAR

UNITS = ((1e3, "s", 1e-3), (1.0, "ms", 1.0), (1e-3, "µs", 1e3), (0.0, "ns", 1e6))
"""Smallest number of milliseconds, unit, and how many of it a millisecond has."""
Table = tuple[str, Sequence[str], Sequence[Sequence[str]]]
COLUMNS = ("#", "file", "runner", "p50", "95 %", "p90", "p99", "per s", "load", "memory", "CPU", "times #1")


def duration(milliseconds: float) -> str:
    """`3.21 ms`, `870 µs`: three digits."""
    unit, factor = next((unit, factor) for least, unit, factor in UNITS if milliseconds >= least)
    return f"{digits(milliseconds * factor)} {unit}"


def digits(value: float) -> str:
    """Three digits, without an exponent."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def between(low: float, high: float) -> str:
    """`3.18 to 3.25 ms`: both in the unit of the larger."""
    unit, factor = next((unit, factor) for least, unit, factor in UNITS if high >= least)
    return f"{digits(low * factor)} to {digits(high * factor)} {unit}"


def interval(row: RowEntry) -> str:
    """`3.18-3.25`, in the unit of the median."""
    factor = next(factor for least, _, factor in UNITS if row.p50_ms >= least)
    return f"{digits(row.p50_low_ms * factor)}-{digits(row.p50_high_ms * factor)}"


def name_of(row: RowEntry) -> str:
    """`original`, `int8 graph`, `int8 fixed .ort 61f7dcc8`."""
    return "original" if row.is_original else f"{row.variant} {row.file}"


def memory(row: RowEntry) -> str:
    return size(row.peak_bytes) if row.peak_bytes else "unknown"


def heading(found: BenchDocument) -> Iterator[str]:
    """What was measured, and how."""
    if found.is_partial:
        yield f"partial: interrupted after {found.method.rounds_done} of {found.method.rounds} rounds"
    for each in found.inputs:
        batch = f"; {each.batch} items in a run" if each.batch > 1 else ""
        yield f"{each.model} with {', '.join(each.shapes)} ({each.samples}){batch}"
    yield f"{found.machine.processor}, {method(found)}"


def method(found: BenchDocument) -> str:
    how = found.method
    cores = ", ".join(map(str, how.pinned_cores))
    place = f"pinned to core{'s' * (len(how.pinned_cores) > 1)} {cores}" if cores else "not pinned: the system cannot"
    return f"{plural(how.threads, 'thread')} {place}, {plural(how.rounds_done, 'round')} of up to {how.seconds:g} s"


def tables(found: BenchDocument) -> Iterator[Table]:
    for each in found.inputs:
        rows = [row for row in found.rows if row.model == each.model]
        if rows:
            title = each.model if len(found.inputs) > 1 else ""
            first = str(rows[0].number)
            yield title, [text.replace("#1", f"#{first}") for text in COLUMNS], [cells(row) for row in rows]
    if found.comparisons:
        named = {row.number: row for row in found.rows}
        columns = ("#", "file", "runner", "before", "now", "times", "99 % of it", "verdict")
        lines = [compared(named[each.number], each) for each in found.comparisons]
        yield f"Compared with {found.baseline}", columns, lines


def cells(row: RowEntry) -> list[str]:
    return [
        str(row.number),
        name_of(row),
        row.runner,
        duration(row.p50_ms) + (" noisy" if row.is_noisy else ""),
        interval(row),
        duration(row.p90_ms),
        "-" if row.p99_ms is None else duration(row.p99_ms),
        digits(row.items_per_second),
        "-" if row.load_ms is None else duration(row.load_ms),
        memory(row),
        duration(row.cpu_ms),
        f"{row.ratio:.2f}",
    ]


def compared(row: RowEntry, each: ComparisonEntry) -> list[str]:
    ends = f"{each.ratio_low:.2f} to {each.ratio_high:.2f}"
    times = [duration(each.before_ms), duration(row.p50_ms)]
    return [str(row.number), name_of(row), row.runner, *times, f"{each.ratio:.2f}", ends, each.verdict]


def notes(found: BenchDocument) -> Iterator[str]:
    """A line for each row about its runtime and its outliers, then what was not timed."""
    for row in found.rows:
        yield f"#{row.number} {'; '.join(about(row, found))}"
    for reason, names in skipped(found).items():
        yield f"skipped: {', '.join(names)}: {reason}"


def about(row: RowEntry, found: BenchDocument) -> Iterator[str]:
    yield row.about
    if row.placed is not None and row.nodes and row.placed < row.nodes:
        yield f"{row.placed} of {row.nodes} nodes, the rest on the CPU"
    if row.threads != found.method.threads:
        yield plural(row.threads, "thread")
    if row.ships_for:
        yield f"ships for {', '.join(row.ships_for)}"
    yield plural(row.runs, "run")
    if row.outliers:
        yield f"{plural(row.outliers, 'outlier')}, the slowest {duration(row.slowest_ms)}"
    if row.error is not None:
        yield f"error {row.error:.1g} of the scale" if row.error else "the original's outputs"


def skipped(found: BenchDocument) -> dict[str, list[str]]:
    """Reason -> what was not timed for it."""
    reasons: dict[str, list[str]] = {}
    for each in found.skipped:
        name = f"{each.runner} ({each.model}, {each.file})" if each.model else each.runner
        reasons.setdefault(each.reason, []).append(name)
    return reasons


def warnings(found: BenchDocument) -> Iterator[str]:
    """What makes numbers uncertain, or wrong."""
    for row in found.rows:
        if row.is_noisy:
            ends = between(min(row.round_medians_ms), max(row.round_medians_ms))
            yield f"#{row.number} is noisy: medians of its rounds are {ends}"
    yield from found.machine.disturbances
    for row in found.rows:
        if row.error is not None and row.error > FAR:
            yield (
                f"#{row.number} computes other numbers than the original: an error of {row.error:.0%} of the scale; "
                "mobpack check shows where it begins"
            )
