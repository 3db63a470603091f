"""Compares results with those of an earlier run: the ratio of medians, with a two-stage bootstrap as the test."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packager.core import parsing, user_files
from packager.core.errors import ConfigError
from packager.measuring.bench import statistics
from packager.measuring.bench.describing import GRAPH
from packager.measuring.bench.document import BenchDocument, ComparisonEntry, InputEntry, RowEntry

HINT = "write one with `mobpack bench --json > before.json`, or --report, which writes JSON beside the page"
MAX_BYTES = 64 << 20
RowKey = tuple[str, str, str, str]


@dataclass(frozen=True, kw_only=True)
class Baseline:
    """Results of an earlier run."""

    name: str
    document: BenchDocument


def read(path: Path) -> Baseline:
    """Raises ConfigError for a file that is none."""
    from pydantic import TypeAdapter, ValidationError

    try:
        content = user_files.read(path, limit_bytes=MAX_BYTES)
        document = TypeAdapter(BenchDocument).validate_json(content)
    except OSError as error:
        raise ConfigError(f"--baseline {path}: cannot read it ({error.strerror or error})", hint=HINT) from error
    except ValidationError as error:
        raise ConfigError(
            f"--baseline {path}: it holds no results of mobpack bench: {_why(content)}", hint=HINT
        ) from error
    return Baseline(name=path.name, document=document)


def _why(content: bytes) -> str:
    try:
        found: Any = parsing.json_of(content)
    except ValueError:
        return "it is not JSON"
    version = found.get("schema-version") if isinstance(found, dict) else None
    is_other = isinstance(version, int) and version != 1
    return f"schema-version {version}, where 1 is known" if is_other else "its keys are others"


def refuse_other(baseline: Baseline, *, processor: str, threads: int, inputs: Sequence[InputEntry]) -> None:
    """Raises ConfigError if times of the baseline say nothing about times of this run."""
    before = baseline.document
    shapes = {each.model: each.shapes for each in before.inputs}
    differences = [
        f"on {before.machine.processor}, not {processor}" if before.machine.processor != processor else "",
        f"with {before.method.threads} threads, not {threads}" if before.method.threads != threads else "",
        *(
            f"with {', '.join(shapes[each.model])}, not {', '.join(each.shapes)}"
            for each in inputs
            if each.model in shapes and shapes[each.model] != each.shapes
        ),
    ]
    if found := "; ".join(filter(None, differences)):
        raise ConfigError(
            f"--baseline {baseline.name} was measured {found}",
            hint="measure both on the same machine, with the same threads and shapes",
        )


def compared(rows: Sequence[RowEntry], baseline: Baseline) -> Iterator[ComparisonEntry]:
    """Each row that the baseline has, too."""
    before = dict(_keyed(baseline.document.rows))
    for key, row in _keyed(rows):
        if key in before:
            yield comparison(row, before[key])


def comparison(row: RowEntry, before: RowEntry) -> ComparisonEntry:
    ours, theirs = ([each.times_ns for each in one.rounds] for one in (row, before))
    found = statistics.ratio(ours, theirs, is_paired=False)
    return ComparisonEntry(
        number=row.number,
        before_ms=before.p50_ms,
        ratio=found.value,
        ratio_low=found.interval.low,
        ratio_high=found.interval.high,
        verdict=found.verdict(statistics.LEAST_DIFFERENCE),
    )


def _keyed(rows: Sequence[RowEntry]) -> Iterator[tuple[RowKey, RowEntry]]:
    """Rows by what stays the same from version to version of a model: its hashes do not."""
    counts: dict[tuple[str, ...], int] = {}
    for row in rows:
        kind = row.file if row.file == GRAPH else row.file.rpartition(" ")[0]
        key = (row.model, row.variant, kind, row.runner)
        counts[key] = counts.get(key, 0) + 1
        yield (*key[:3], f"{row.runner}#{counts[key]}"), row
