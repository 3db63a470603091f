"""Results in words, for the terminal and the page."""

from collections.abc import Iterator, Sequence

from packager.config import SOURCE
from packager.core.console import size
from packager.measuring.bench.describing import GRAPH
from packager.measuring.bench.document import BenchDocument, ComparisonEntry, RowEntry
from packager.render.pages.numbers import plural
from packager.verification.parity import FAR

UNITS = ((1e3, "s", 1e-3), (1.0, "ms", 1.0), (1e-3, "µs", 1e3), (0.0, "ns", 1e6))
"""Smallest number of milliseconds, unit, and how many of it a millisecond has."""
NS_PER_MS = 1e6
SHARED = 0.9
"""Share of its core's time below which a row of one thread had to wait for other programs."""
NOISY_SHOWN = 3
Table = tuple[str, Sequence[str], Sequence[Sequence[str]]]
COLUMNS = ("#", "file", "runner", "p50", "p90", "p99", "per s", "load", "memory", "CPU", "x #1")


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


def median_of(row: RowEntry) -> str:
    """`3.21 ms ±0.04`: half the width of the interval, in the same unit; and whether rounds disagree."""
    factor = next(factor for least, _, factor in UNITS if row.p50_ms >= least)
    half = digits((row.p50_high_ms - row.p50_low_ms) / 2 * factor)
    return f"{duration(row.p50_ms)} ±{half}{' noisy' if row.is_noisy else ''}"


def name_of(row: RowEntry) -> str:
    """`original`, `int8 graph`, `int8 fixed .ort 61f7dcc8`; without the variant for a file of the model's own
    numbers."""
    if row.is_original:
        return "original"
    return row.file if row.variant == SOURCE and row.file != GRAPH else f"{row.variant} {row.file}"


def memory(row: RowEntry) -> str:
    return size(row.peak_bytes) if row.peak_bytes else "unknown"


def heading(found: BenchDocument) -> Iterator[str]:
    """Lines about the inputs, the machine and the method."""
    if found.is_partial:
        yield f"partial: interrupted when {found.method.rounds_done} of {found.method.rounds} rounds were complete"
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
        median_of(row),
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
    if row.base_bytes:
        yield f"{size(row.base_bytes)} before loading"
    if row.outliers:
        yield f"{plural(row.outliers, 'outlier')}, the slowest {duration(row.slowest_ms)}"
    if row.differs:
        yield "other outputs than the original"
    if row.error is not None:
        yield f"error {row.error:.1g} of the scale" if row.error else "the original's outputs"


def skipped(found: BenchDocument) -> dict[str, list[str]]:
    """Reason -> what was not timed for it."""
    reasons: dict[str, list[str]] = {}
    for each in found.skipped:
        name = f"{each.runner} ({each.model}, {each.file})" if each.model else each.runner
        reasons.setdefault(each.reason, []).append(name)
    return reasons


def noise(rows: Sequence[RowEntry]) -> Iterator[str]:
    """Sentences about rows whose rounds disagree: one for each, or one for all if they are many."""
    noisy = [row for row in rows if row.is_noisy]
    waited = [row for row in noisy if core_share(row) < SHARED]
    if len(noisy) <= NOISY_SHOWN:
        for row in noisy:
            ends = between(min(row.round_medians_ms), max(row.round_medians_ms))
            yield f"#{row.number} is noisy: medians of its rounds are {ends}"
    else:
        widest = max(max(row.round_medians_ms) / min(row.round_medians_ms) for row in noisy)
        yield f"{len(noisy)} of {len(rows)} rows are noisy: medians of rounds differ by up to {digits(widest)} times"
    if waited:
        shares = [core_share(row) for row in waited]
        both = dict.fromkeys(f"{share:.0%}" for share in (min(shares), max(shares)))
        yield (
            f"noisy rows waited for other programs, and had their core for {' to '.join(both)} of the time: their CPU "
            "time is the steadier number"
        )


def core_share(row: RowEntry) -> float:
    """Share of the time that a row of one thread had its core; 1 for others, and for providers, which compute
    elsewhere."""
    total = sum(time / NS_PER_MS for each in row.rounds for time in each.times_ns)
    return 1.0 if row.placed is not None or row.threads > 1 else row.cpu_ms * row.runs / total


def warnings(found: BenchDocument) -> Iterator[str]:
    """Sentences about numbers that are uncertain, or of something else."""
    yield from noise(found.rows)
    yield from found.machine.disturbances
    for row in found.rows:
        if row.differs or (row.error or 0.0) > FAR:
            amount = "" if row.error is None else f": an error of {row.error:.0%} of the scale"
            yield (
                f"#{row.number} computes something other than the original{amount}; mobpack check shows where it begins"
            )
