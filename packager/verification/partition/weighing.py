"""Decides whether a provider that nobody named stands before the CPU: what it brings against what it adds.

The limits follow from `python -m benchmarks.xnnpack` (docs/performance.md): no model of which XNNPACK takes nine tenths
of the MACs and a third of the nodes is slower on it than on the CPU by more than 2 %, and most are twice as fast;
among the others some are slower. The number of partitions does not tell there: page orientation has 31 and is faster. A
provider that is only predicted is on another processor, where each border is a copy that nobody has timed here: it must
take the graph in few partitions.
"""

from collections.abc import Iterator, Sequence

from packager.compile.converter import has_grown
from packager.core.console import size
from packager.core.decision import Weighed
from packager.core.findings import Partition
from packager.core.values import Choice, Plan
from packager.files.hashes import known_sha256
from packager.providers import CPU

LEAST_MACS, LEAST_NODES = 0.9, 1 / 3
"""Shares of the graph that a provider must take."""
LEAST_NODES_OF_PARTITION = 20
"""Mean number of nodes in a predicted partition."""


def weigh(plan: Plan, partitions: Sequence[Partition]) -> tuple[Weighed, ...]:
    """A verdict on every provider of `plan`, whose partitions are given."""
    choices = {choice.provider: choice for choice in plan.choices if choice.provider != CPU.NAME}
    found = {(each.provider, each.sha256): each for each in partitions}
    return tuple(weighed(plan, choice, found[choice.provider, choice.compiled.sha256]) for choice in choices.values())


def weighed(plan: Plan, choice: Choice, partition: Partition) -> Weighed:
    because = "; ".join(against(plan, choice, partition))
    figures = because if partition.skipped or partition.refusal else figures_of(partition)
    reason = f"{figures}: {because}" if because and because != figures else figures
    return Weighed(provider=choice.provider, is_worth=not because, reason=reason)


def against(plan: Plan, choice: Choice, partition: Partition) -> Iterator[str]:
    """Reasons why the CPU runs the model instead."""
    if partition.skipped:
        yield f"not examined: {partition.skipped}"
    elif partition.refusal:
        yield f"does not start: {partition.refusal}"
    elif partition.share is None:
        yield "no product or convolution to speed up"
    elif partition.share < LEAST_MACS:
        yield f"less than {LEAST_MACS:.0%} of the MACs"
    elif partition.taken_count < LEAST_NODES * partition.node_count:
        yield "less than a third of the nodes: values change their layout at every border"
    elif not partition.is_measured and partition.taken_count < LEAST_NODES_OF_PARTITION * partition.partition_count:
        yield f"fewer than {LEAST_NODES_OF_PARTITION} nodes in each, and every border is a copy to another processor"
    alone, together = size_of([plan.choices[-1]]), size_of([plan.choices[-1], choice])
    if has_grown(alone, together):
        yield f"its files make {size(alone)} of models {size(together)}, more than 1.25 times as much"


def figures_of(partition: Partition) -> str:
    parts = "1 partition" if partition.partition_count == 1 else f"{partition.partition_count} partitions"
    share = "no MACs in the graph" if partition.share is None else f"{partition.share:.1%} of the MACs"
    how = "measured" if partition.is_measured else "predicted"
    return f"{partition.taken_count} of {partition.node_count} nodes in {parts}, {share} ({how})"


def size_of(choices: Sequence[Choice]) -> int:
    """Size of all files that `choices` open, each once."""
    files = [path for choice in choices for path in (choice.compiled.path, *choice.compiled.data_files)]
    return sum({known_sha256(path): path.stat().st_size for path in files}.values())
