"""Gates on times and memory: `--fail-on p90=12ms`."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from packager.core.console import size
from packager.core.errors import ConfigError, nearest
from packager.measuring.bench.document import ComparisonEntry, RowEntry
from packager.measuring.bench.words import duration

TIMES = {"ns": 1e-6, "us": 1e-3, "ms": 1.0, "s": 1e3}
"""Unit -> milliseconds."""
SIZES = {"B": 1.0, "kB": 1e3, "MB": 1e6, "GB": 1e9}
"""Unit -> bytes."""
Value = Callable[[RowEntry], float | None]
TIMED: Mapping[str, Value] = {
    "p50": lambda row: row.p50_ms,
    "p90": lambda row: row.p90_ms,
    "p99": lambda row: row.p99_ms,
    "load": lambda row: row.load_ms,
    "cpu": lambda row: row.cpu_ms,
}
MEMORY = "memory"
SLOWER = "slower"
"""Gate without a number: no row is slower than in the baseline."""
NAMES = (*TIMED, MEMORY, SLOWER)
UNKNOWN = {"p99": "it needs 100 runs: give more --rounds or --seconds"}
GATE = re.compile(r"(?P<name>[\w-]+)(?:@(?P<runner>[\w -]+))?(?:=(?P<number>\d+(?:\.\d+)?)(?P<unit>[a-zA-Z]*))?")


@dataclass(frozen=True, kw_only=True)
class Gate:
    text: str
    """as given"""
    name: str
    limit: float = 0.0
    """milliseconds or bytes"""
    runner: str = ""
    """empty for every runner"""


def parse(texts: Iterable[str], *, has_baseline: bool) -> tuple[Gate, ...]:
    """Raises ConfigError for an unknown gate, a number without a unit, or `slower` without a baseline."""
    return tuple(_parsed(text, has_baseline=has_baseline) for text in texts)


def _parsed(text: str, *, has_baseline: bool) -> Gate:
    found = GATE.fullmatch(text.strip())
    name = found["name"] if found else text.partition("=")[0]
    if name not in NAMES:
        raise ConfigError(f"--fail-on {text}: unknown gate '{name}'", hint=nearest(name, NAMES))
    if name == SLOWER:
        if not has_baseline:
            raise ConfigError(f"--fail-on {text}: nothing to compare with", hint="give --baseline FILE")
        if found is None or found["number"]:
            raise ConfigError(f"--fail-on {text}: it takes no number", hint="--fail-on slower, or slower@cpu")
        return Gate(text=text, name=name, runner=found["runner"] or "")
    units = SIZES if name == MEMORY else TIMES
    if found is None or not found["number"] or found["unit"] not in units:
        example = "200MB" if name == MEMORY else "12ms"
        raise ConfigError(
            f"--fail-on {text}: expected a number with a unit ({', '.join(units)})",
            hint=f"for example: {name}={example}, or {name}@cpu={example}",
        )
    return Gate(text=text, name=name, limit=float(found["number"]) * units[found["unit"]], runner=found["runner"] or "")


def failures(gates: Sequence[Gate], rows: Sequence[RowEntry], comparisons: Sequence[ComparisonEntry]) -> Iterator[str]:
    """Sentences about the gates that are not met, or that cannot be judged. The original is not judged where files that
    were made of it are."""
    judged = list(judged_rows(rows))
    slower = {each.number: each for each in comparisons}
    for gate in gates:
        own = [row for row in judged if gate.runner in ("", row.runner)]
        if not own:
            yield f"{gate.text}: nothing was timed on {gate.runner or 'any runner'}"
        for row in own:
            yield from _slower(gate, row, slower.get(row.number)) if gate.name == SLOWER else _over(gate, row)


def judged_rows(rows: Sequence[RowEntry]) -> Iterator[RowEntry]:
    made = {(row.model, row.runner) for row in rows if not row.is_original}
    return (row for row in rows if not row.is_original or (row.model, row.runner) not in made)


def _over(gate: Gate, row: RowEntry) -> Iterator[str]:
    value = float(row.peak_bytes) if gate.name == MEMORY and row.peak_bytes else None
    value = TIMED[gate.name](row) if gate.name in TIMED else value
    if value is None:
        yield f"{gate.text}: unknown for {row_in_words(row)}: {UNKNOWN.get(gate.name, 'its program does not tell')}"
    elif value > gate.limit:
        words = size(value) if gate.name == MEMORY else duration(value)
        yield f"{gate.text}: {words} for {row_in_words(row)}"


def _slower(gate: Gate, row: RowEntry, found: ComparisonEntry | None) -> Iterator[str]:
    if found and found.verdict == "slower":
        yield (
            f"{gate.text}: {row_in_words(row)} takes {found.ratio:.2f} times as long as before "
            f"({found.ratio_low:.2f} to {found.ratio_high:.2f}): {duration(row.p50_ms)}, "
            f"not {duration(found.before_ms)}"
        )


def row_in_words(row: RowEntry) -> str:
    """`model 'net' (int8, fixed .ort 61f7dcc8) on cpu`"""
    return f"model '{row.model}' ({row.variant}, {row.file}) on {row.runner}"
