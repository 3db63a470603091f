"""Decides whether a provider that nobody named stands before the CPU: what it saves against what it costs.

Both are estimated from the graph alone (`estimating.py`), with what each provider states about itself (`COST`). The
estimates of measured models, and those that are wrong, are in benchmarks/results/xnnpack.md, "What a provider costs".
The nodes of a contract do not count: they run on the CPU with every provider.
"""

from collections.abc import Iterator, Sequence

from packager.compile.converter import has_grown
from packager.core.console import size
from packager.core.cost import Cost, Estimate
from packager.core.decision import Weighed
from packager.core.findings import Partition
from packager.core.values import Choice, Plan
from packager.files.hashes import known_sha256
from packager.providers import CPU, provider_of

LEAST_SAVING_MS = 0.1
"""A provider that saves less in a run is not worth another file."""
SHOWN_MS = 0.01
"""Shorter times are not told apart in reasons."""


def weigh(plan: Plan, partitions: Sequence[Partition]) -> tuple[Weighed, ...]:
    """A verdict on every provider of `plan`, whose partitions are given."""
    choices = {choice.provider: choice for choice in plan.choices if choice.provider != CPU.NAME}
    found = {(each.provider, each.sha256): each for each in partitions}
    return tuple(weighed(plan, choice, found[choice.provider, choice.compiled.sha256]) for choice in choices.values())


def weighed(plan: Plan, choice: Choice, partition: Partition) -> Weighed:
    because = "; ".join(against(plan, choice, partition))
    figures = because if partition.skipped or partition.refusal else figures_of(partition)
    reason = f"{figures}: {because}" if because and because != figures else figures
    return Weighed(provider=choice.provider, is_worth=not because, reason=reason, is_refused=bool(partition.refusal))


def unfit(plan: Plan, partitions: Sequence[Partition]) -> tuple[Weighed, ...]:
    """The providers of `plan` that the project names and that get no file all the same: they compute it wrong, or fail
    with it. An app would not notice the first and could not help the second, and the CPU is right."""
    found = {(each.provider, each.sha256): each.refusal for each in partitions if each.refusal}
    refused = {choice.provider: found.get((choice.provider, choice.compiled.sha256)) for choice in plan.choices}
    return tuple(
        Weighed(provider=name, is_worth=False, reason=reason, is_named=True, is_refused=True)
        for name, reason in refused.items()
        if reason
    )


def against(plan: Plan, choice: Choice, partition: Partition) -> Iterator[str]:
    """Reasons why the CPU runs the model instead."""
    cost = provider_of(choice.provider).COST
    if partition.skipped:
        yield f"not examined: {partition.skipped}"
    elif partition.refusal:
        yield partition.refusal
    elif partition.share is None:
        yield "no product or convolution to speed up"
    elif not partition.share:
        yield "it takes no product or convolution"
    elif cost and partition.estimate:
        yield from _too_slow(partition, partition.estimate, cost)
    alone, together = size_of([plan.choices[-1]]), size_of([plan.choices[-1], choice])
    if has_grown(alone, together):
        yield f"its files make {size(alone)} of models {size(together)}, more than 1.25 times as much"


def _too_slow(partition: Partition, estimate: Estimate, cost: Cost) -> Iterator[str]:
    """The reason why a run takes no less time with the provider."""
    if cost.needs_sizes and estimate.open_value:
        yield (
            f"'{estimate.open_value}' has sizes that only a run decides, with which it is slow: fix them in "
            f"[model.{partition.model}.shapes]"
        )
    elif estimate.calls_ms >= estimate.work_ms:
        yield f"{_ms(estimate.work_ms)} of work, {_calls(partition, cost)}"
    elif estimate.cpu_ms < SHOWN_MS:
        yield f"{_ms(estimate.cpu_ms)} of work"
    elif estimate.provider_ms > cost.most * estimate.cpu_ms:
        yield f"{_times(estimate)}: {_parts(partition, estimate, cost)}"
    elif estimate.cpu_ms - estimate.provider_ms < LEAST_SAVING_MS:
        yield f"{_ms(estimate.cpu_ms)} of work, of which it saves {_ms(estimate.cpu_ms - estimate.provider_ms)}"


def _times(estimate: Estimate) -> str:
    return f"about {_ms(estimate.provider_ms)} a run with it, {_ms(estimate.cpu_ms)} on the CPU alone"


def _parts(partition: Partition, estimate: Estimate, cost: Cost) -> str:
    """The parts of the time with the provider."""
    parts = [f"{_ms(estimate.own_ms)} of work there"]
    if estimate.slower:
        parts[0] += f" ({_ms(estimate.slower_ms)} in {estimate.slower}, {_ms(estimate.slower_cpu_ms)} on the CPU)"
    if estimate.rest_ms >= SHOWN_MS:
        parts.append(f"{_ms(estimate.rest_ms)} on the CPU")
    if estimate.calls_ms:
        parts.append(_calls(partition, cost))
    if estimate.copies_ms >= SHOWN_MS:
        parts.append(f"{_ms(estimate.copies_ms)} for copies")
    return ", ".join(parts)


def _calls(partition: Partition, cost: Cost) -> str:
    count = partition.partition_count
    return f"{cost.call_ms:g} ms a call" if count == 1 else f"{count} calls of {cost.call_ms:g} ms each"


def _ms(time_ms: float) -> str:
    """`0.05 ms`, `1.2 ms`, `530 ms`"""
    if time_ms < SHOWN_MS:
        return "less than 0.01 ms"
    return f"{time_ms:.2f} ms" if time_ms < 1 else f"{time_ms:.1f} ms" if time_ms < 100 else f"{time_ms:.0f} ms"


def figures_of(partition: Partition) -> str:
    parts = "1 partition" if partition.partition_count == 1 else f"{partition.partition_count} partitions"
    share = "no MACs in the graph" if partition.share is None else f"{partition.share:.1%} of the MACs"
    how = "measured" if partition.is_measured else "predicted"
    return f"{partition.taken_count} of {partition.node_count} nodes in {parts}, {share} ({how})"


def size_of(choices: Sequence[Choice]) -> int:
    """Size of all files that `choices` open, each once."""
    files = [path for choice in choices for path in (choice.compiled.path, *choice.compiled.data_files)]
    return sum({known_sha256(path): path.stat().st_size for path in files}.values())
