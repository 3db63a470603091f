"""Describes rounds: the entries of the document."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from packager.core.values import Plan
from packager.engines.runners import Outcome
from packager.measuring.bench import statistics
from packager.measuring.bench.document import RoundEntry, RowEntry
from packager.measuring.bench.rounds import Contender, Round
from packager.verification.parity import NO_RANGE, Subject
from packager.verification.parity.metrics import Comparison
from packager.verification.parity.outcomes import array_of

NS_PER_MS = 1e6
GRAPH = "graph"
Key = tuple[str, str]
"""model, and sha256 of a file"""


@dataclass(frozen=True, kw_only=True)
class BenchInputs:
    """Inputs that all files of a model run on."""

    sample: Path
    """.npz keyed by input name"""
    description: str
    shapes: tuple[str, ...]
    batch: int
    expected: Outcome | None
    """outputs of the original; None if they are random"""


def rows(
    contenders: Sequence[Contender], inputs: Mapping[str, BenchInputs], plans: Sequence[Plan], threads: int
) -> tuple[RowEntry, ...]:
    """A row for each contender with a round, in their order; each is compared with the first of its model."""
    users = users_of(plans)
    first: dict[str, Contender] = {}
    found: list[RowEntry] = []
    for contender in contenders:
        if contender.rounds:
            model = contender.entrant.subject.variant.model.name
            beside = first.setdefault(model, contender)
            found.append(_row(len(found) + 1, contender, beside, inputs[model], users, threads))
    return tuple(found)


def times_of(contender: Contender) -> list[tuple[int, ...]]:
    return [each.times.times_ns for each in contender.rounds]


def _row(
    number: int,
    contender: Contender,
    beside: Contender,
    inputs: BenchInputs,
    users: Mapping[Key, tuple[str, ...]],
    threads: int,
) -> RowEntry:
    subject = contender.entrant.subject
    model = subject.variant.model
    rounds = times_of(contender)
    times = statistics.all_of(rounds)
    middle = statistics.median(times)
    interval = statistics.median_interval(rounds)
    ratio = statistics.ratio(rounds, times_of(beside), is_paired=True)
    error = _error(contender, inputs)
    loads = [each.loading.seconds for each in contender.rounds if each.loading and each.loading.seconds is not None]
    return RowEntry(
        number=number,
        model=model.name,
        variant=subject.variant.name,
        file=file_of(subject),
        is_original=is_original(subject),
        sha256=subject.sha256,
        size_bytes=subject.compiled.size_bytes if subject.compiled else subject.variant.size_bytes,
        ships_for=users.get((model.name, subject.sha256), ()),
        runner=contender.entrant.runner.label(),
        about=contender.about,
        placed=contender.placed,
        nodes=contender.node_count,
        threads=contender.threads or threads,
        p50_ms=middle / NS_PER_MS,
        p50_low_ms=interval.low / NS_PER_MS,
        p50_high_ms=interval.high / NS_PER_MS,
        p90_ms=statistics.quantile(times, 0.9) / NS_PER_MS,
        p99_ms=statistics.quantile(times, 0.99) / NS_PER_MS if len(times) >= statistics.P99_RUNS else None,
        slowest_ms=max(times) / NS_PER_MS,
        runs=len(times),
        outliers=statistics.outlier_count(times),
        round_medians_ms=tuple(statistics.median(each) / NS_PER_MS for each in rounds),
        is_noisy=statistics.is_noisy(rounds),
        items_per_second=inputs.batch / (middle / 1e9),
        load_ms=1000 * statistics.median(loads) if loads else None,
        peak_bytes=max((each.times.peak_bytes for each in contender.rounds if each.times.peak_bytes), default=None),
        base_bytes=max(
            (each.loading.base_bytes for each in contender.rounds if each.loading and each.loading.base_bytes),
            default=None,
        ),
        cpu_ms=sum(each.times.cpu_ns for each in contender.rounds) / len(times) / NS_PER_MS,
        ratio=ratio.value,
        ratio_low=ratio.interval.low,
        ratio_high=ratio.interval.high,
        error=error if error is not None and math.isfinite(error) else None,
        differs=error is not None and not math.isfinite(error),
        rounds=tuple(map(_round, contender.rounds)),
    )


def _round(each: Round) -> RoundEntry:
    took = each.loading.seconds if each.loading else None
    return RoundEntry(
        times_ns=each.times.times_ns,
        warm_up_ns=each.times.warm_up_ns,
        cpu_ns=each.times.cpu_ns,
        load_ms=None if took is None else 1000 * took,
        peak_bytes=each.times.peak_bytes,
        base_bytes=each.loading.base_bytes if each.loading else None,
    )


def is_original(subject: Subject) -> bool:
    """Whether it is the user's model itself, and no file that was made of it."""
    return subject.compiled is None and subject.variant.quantizer == "none"


def file_of(subject: Subject) -> str:
    """`graph`, or `fixed .ort 61f7dcc8`."""
    compiled = subject.compiled
    if compiled is None:
        return GRAPH
    return " ".join(filter(None, (f"{compiled.style} .{compiled.format}", compiled.processor, compiled.sha256[:8])))


def users_of(plans: Sequence[Plan]) -> dict[Key, tuple[str, ...]]:
    """Targets and providers that open each file: `cpu on android`."""
    found: dict[Key, dict[str, None]] = {}
    for plan in plans:
        for choice in plan.choices:
            users = found.setdefault((plan.model.name, choice.compiled.sha256), {})
            users[f"{choice.provider} on {plan.place}"] = None
    return {key: tuple(users) for key, users in found.items()}


def _error(contender: Contender, inputs: BenchInputs) -> float | None:
    """The largest difference of an output from the original's, as a share of its scale: infinite if it cannot be
    compared, None if the original's are random."""
    if inputs.expected is None or contender.outcome is None:
        return None
    worst = 0.0
    for index, spec in enumerate(contender.entrant.subject.variant.model.signature.outputs):
        expected, actual = array_of(inputs.expected, index), array_of(contender.outcome, index)
        found = Comparison(spec.name, NO_RANGE.over([expected])).add(expected, actual)
        if found.reason:
            return math.inf
        worst = max(worst, found.max_rel_error)
    return worst
