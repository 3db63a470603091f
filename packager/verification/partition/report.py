"""One Partition per provider of a plan: by its rules, which decide, and as it says itself where it runs here."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from packager.core.errors import GateError, ModelError, ToolError
from packager.core.findings import CpuFallback, Partition, Report
from packager.core.values import Choice, Format, Plan, Style
from packager.engines.environments import ENVIRONMENTS
from packager.graph.macs import macs
from packager.graph.view import Graph
from packager.models.graphs import read_graph as read_onnx
from packager.providers import CPU, provider_of
from packager.verification.partition import coreml, groups, nnapi, xnnpack
from packager.verification.partition.device import measure_on_android
from packager.verification.partition.estimating import estimated
from packager.verification.partition.kernels import graph_of
from packager.verification.partition.measured import SOURCES, OfferedNodes, measure
from packager.verification.partition.own import Border, border_of
from packager.verification.partition.rules import Prediction

RULES: Mapping[str, Callable[[Graph], Prediction]] = {
    "nnapi": nnapi.predict,
    "coreml": coreml.predict,
    "xnnpack": xnnpack.predict,
}
"""Provider -> its rules, from ONNX Runtime's source."""
NO_RULES = "{} is not predicted: it is measured where `mobpack doctor --install {}` has been run"
NOWHERE = "{} is not predicted, and no ONNX Runtime for this machine has it"


def partitions(plan: Plan, asked: Sequence[Partition] = ()) -> tuple[Partition, ...]:
    """The partition of each provider of `plan` by its rules, in the plan's order, without the CPU, which takes the
    rest; then those of providers that the project names and that got no file. Those in `asked` are known.

    A function of the files alone: decisions and gates depend on nothing that is installed.
    """
    known = {_key(each): each for each in asked}
    chosen = [choice for choice in plan.choices if choice.provider != CPU.NAME]
    refused = {each.provider for each in plan.left_out if each.is_named}
    without = [each for each in asked if (each.model, each.target) == (plan.model.name, plan.target)]
    return (
        *(known.get(_wanted(plan, choice)) or partition(plan, choice) for choice in chosen),
        *(each for each in without if each.provider in refused and each.refusal),
    )


def partition(plan: Plan, choice: Choice) -> Partition:
    """The partition of the provider of `choice` by its rules; if there are none, `skipped` says so."""
    if choice.compiled.style is Style.CONTEXT:
        return _context(plan, choice)
    graph = graph_of(choice.compiled)
    if choice.provider in RULES:
        return _predicted(plan, choice, graph, RULES[choice.provider](graph))
    source = SOURCES.get(choice.provider)
    words = NO_RULES.format(choice.provider, source.environment) if source else NOWHERE.format(choice.provider)
    return _empty(plan, choice, graph, skipped=words)


def measured(plan: Plan, scratch: Path) -> tuple[Partition, ...]:
    """The partitions of the providers of `plan` that run on this machine, as they say themselves: evidence, which
    decides nothing that rules can decide."""
    found = []
    for index, choice in enumerate(plan.choices):
        if choice.provider == CPU.NAME or choice.compiled.style is Style.CONTEXT or _missing(plan, choice):
            continue
        folder = scratch / f"{index}-{choice.provider}"
        folder.mkdir()
        found.append(_asked(plan, choice, folder))
    return tuple(found)


def _asked(plan: Plan, choice: Choice, scratch: Path) -> Partition:
    """Never raises: if there is no result, `skipped` says why."""
    graph = graph_of(choice.compiled)
    try:
        return _measured(plan, choice, graph, scratch)
    except ToolError as error:
        return _empty(plan, choice, graph, skipped="; ".join(filter(None, (error.message, error.hint))))
    except ModelError as error:  # it crashed the process
        return _refused(plan, choice, graph, refusal=error.message, is_measured=True)


def counted(plan: Plan, partitions: Sequence[Partition]) -> Plan:
    """`plan`, whose choices know how many nodes with MACs their providers take, as `partitions` by rules say."""
    known = {_key(each): each.mac_node_count for each in partitions}
    return replace(
        plan,
        choices=tuple(replace(choice, nodes=known.get(_wanted(plan, choice), 0)) for choice in plan.choices),
    )


def _key(each: Partition) -> tuple[object, ...]:
    return each.model, each.target, each.provider, each.sha256, each.soc_models


def _wanted(plan: Plan, choice: Choice) -> tuple[object, ...]:
    """The key of the partition of `choice`."""
    return plan.model.name, plan.target, choice.provider, choice.compiled.sha256, choice.soc_models


def contradictions(predicted: Sequence[Partition], found: Sequence[Partition]) -> Iterator[str]:
    """Differences between rules and what a provider said on this machine, in words."""
    by_key = {_key(each): each for each in predicted}
    for each in found:
        rule = by_key.get(_key(each))
        if rule is None or rule.skipped or each.skipped or _result(rule) == _result(each):
            continue
        yield (
            f"{each.provider} on {each.target} takes another part of model '{each.model}' than its rules say: "
            f"{_said(each)} by {each.by}, {_said(rule)} by the rules, which decide"
        )


def judged(report: Report) -> tuple[Partition, ...]:
    """The partitions that gates judge: those by rules, and for a provider without rules what it says itself."""
    said = {_key(each): each for each in report.measured}
    return tuple((each.skipped and said.get(_key(each))) or each for each in report.partitions)


def _result(each: Partition) -> tuple[object, ...]:
    return bool(each.refusal), each.partition_count, each.share


def _said(each: Partition) -> str:
    return "nothing" if each.refusal else f"{each.taken_count} of {each.node_count} nodes in {each.partition_count}"


def _missing(plan: Plan, choice: Choice) -> str:
    """Why the provider cannot be asked on this machine; empty if it can."""
    if source := SOURCES.get(choice.provider):
        return ENVIRONMENTS[source.environment]().missing()
    if not provider_of(choice.provider).ANDROID_CHECK:
        return f"no ONNX Runtime for this machine has {choice.provider}"
    if choice.compiled.format is Format.ORT:
        return "ONNX Runtime records nothing about ORT-format files"
    return ENVIRONMENTS["android"]().missing() if plan.target == "android" else "it is asked for Android only"


@dataclass(frozen=True, kw_only=True)
class Gates:
    """Requirements of --fail-on and `[check]` on every provider."""

    max_partitions: int | None = None
    min_share: float | None = None


def enforce_partition_gates(partitions: tuple[Partition, ...], gates: Gates) -> None:
    """Raises GateError for the first partition that violates `gates`, or that has no result."""
    if gates.max_partitions is None and gates.min_share is None:
        return
    for each in partitions:
        where = f"model '{each.model}' on {each.target}, {each.provider}"
        if each.skipped:
            raise GateError(
                f"{where}: no result for the gate: {each.skipped}", hint="install what is missing, or drop the gate"
            )
        if each.refusal:
            raise GateError(
                f"{where}: cannot run its file: {each.refusal}",
                hint="disable the provider for this model, or fix the node that it refuses",
            )
        if gates.max_partitions is not None and each.partition_count > gates.max_partitions:
            raise GateError(
                f"{where}: {each.partition_count} partitions, at most {gates.max_partitions} are allowed",
                hint="mobpack check names the nodes that split the graph",
            )
        if gates.min_share is not None and (each.share or 0.0) < gates.min_share:
            raise GateError(
                f"{where}: runs {each.share or 0.0:.1%} of the MACs, less than {gates.min_share:.1%}",
                hint="mobpack check names the nodes it leaves to the CPU",
            )


def _measured(plan: Plan, choice: Choice, graph: Graph, scratch: Path) -> Partition:
    provider = provider_of(choice.provider)
    options = provider.placement_options()
    assignment = (
        measure_on_android(choice.compiled.path, choice.provider, scratch)
        if provider.ANDROID_CHECK
        else measure(choice.compiled.path, None, choice.provider, options, scratch, choice.compiled.settings)
    )
    if assignment.refusal:
        return _refused(plan, choice, graph, refusal=assignment.refusal, by=assignment.by, is_measured=True)
    taken = frozenset().union(*(assignment.taken(name) for name in _names(assignment)))
    return _partition(
        plan,
        choice,
        graph,
        taken=taken | _merged(assignment, taken, graph),
        pieces=groups.partitions(graph, taken & {node.name for node in graph.nodes}),
        reasons=RULES[choice.provider](graph).left if choice.provider in RULES else {},
        by=assignment.by,
        is_measured=True,
    )


def _names(assignment: OfferedNodes) -> set[str]:
    return {subgraph.provider for subgraph in assignment.subgraphs} - {"CPUExecutionProvider"}


def _merged(assignment: OfferedNodes, taken: frozenset[str], graph: Graph) -> frozenset[str]:
    """Nodes that were folded before the provider was asked, between nodes that it took."""
    gone = set(assignment.gone)
    return frozenset(
        node.name
        for node in graph.nodes
        if node.name in gone
        and all(user.name in taken for output in node.outputs for user in graph.consumers.get(output, ()))
        and any(graph.consumers.get(output) for output in node.outputs)
    )


def _predicted(plan: Plan, choice: Choice, graph: Graph, prediction: Prediction) -> Partition:
    refusal = prediction.refusal
    if prediction.fused and choice.compiled.format is Format.ORT:
        reason = provider_of(choice.provider).requirements(choice.compiled.variant.traits).refuses_ort
        refusal = refusal or f"node '{prediction.fused}' in a file of ORT format: {reason}"
    if refusal:
        return _refused(plan, choice, graph, refusal=refusal, by=prediction.by)
    return _partition(
        plan,
        choice,
        graph,
        taken=frozenset(name for names in prediction.partitions for name in names),
        pieces=prediction.partitions,
        reasons=prediction.left,
        by=prediction.by,
        is_measured=False,
    )


def _partition(
    plan: Plan,
    choice: Choice,
    graph: Graph,
    *,
    taken: frozenset[str],
    pieces: Sequence[Sequence[str]],
    reasons: Mapping[str, str],
    by: str,
    is_measured: bool,
) -> Partition:
    """The model's own part of what was found about `graph`. Partitions of added nodes alone are none."""
    model = _border(plan).own_part(graph)
    work = macs(model)
    total = sum(work.values())
    own = {node.name for node in model.nodes}
    own_pieces = tuple(kept for names in pieces if (kept := tuple(name for name in names if name in own)))
    cost = provider_of(choice.provider).COST
    return replace(
        _empty(plan, choice, graph),
        taken_count=len(taken & own),
        added_taken_count=sum(node.name in taken for node in graph.nodes) - len(taken & own),
        partition_count=len(own_pieces),
        mac_node_count=len(taken & macs(graph).keys()),
        share=sum(count for name, count in work.items() if name in taken) / total if total else None,
        estimate=estimated(model, own_pieces, cost) if cost and own_pieces else None,
        left=_left(model, taken, reasons),
        by=by,
        is_measured=is_measured,
    )


def _left(graph: Graph, taken: frozenset[str], reasons: Mapping[str, str]) -> tuple[CpuFallback, ...]:
    """CPU fallbacks, by operator and reason, the most numerous first."""
    found: dict[tuple[str, str], list[str]] = {}
    for node in graph.nodes:
        if node.name not in taken:
            found.setdefault((node.operator, reasons.get(node.name, "")), []).append(node.name)
    left = [
        CpuFallback(operator=operator, count=len(names), reason=reason, example=names[0])
        for (operator, reason), names in found.items()
    ]
    return tuple(sorted(left, key=lambda each: (-each.count, each.operator, each.reason)))


def _context(plan: Plan, choice: Choice) -> Partition:
    """The partition of a provider's own compiler, read from the file: a node for each partition, and the nodes it
    left."""
    whole = graph_of(choice.compiled)
    border = _border(plan)
    graph, before = border.own_part(whole), border.own_part(read_onnx(choice.compiled.variant.graph))
    pieces = [node.name for node in graph.nodes if node.op == "EPContext"]
    total = sum(macs(before).values())
    return replace(
        _empty(plan, choice, whole),
        taken_count=len(pieces),
        partition_count=len(pieces),
        share=1 - sum(macs(graph).values()) / total if total else None,
        left=_left(graph, frozenset(pieces), {}),
        by="Qualcomm's compiler, ahead of time",
        is_measured=True,
    )


def _refused(
    plan: Plan, choice: Choice, graph: Graph, *, refusal: str, by: str = "", is_measured: bool = False
) -> Partition:
    share = 0.0 if macs(_border(plan).own_part(graph)) else None
    return replace(_empty(plan, choice, graph), share=share, by=by, is_measured=is_measured, refusal=refusal)


def _empty(plan: Plan, choice: Choice, graph: Graph, *, skipped: str = "") -> Partition:
    """A partition without nodes."""
    node_count = len(_border(plan).own_part(graph).nodes)
    return Partition(
        model=plan.model.name,
        target=plan.target,
        provider=choice.provider,
        sha256=choice.compiled.sha256,
        soc_models=choice.soc_models,
        node_count=node_count,
        added_count=len(graph.nodes) - node_count,
        skipped=skipped,
    )


def _border(plan: Plan) -> Border:
    return border_of(read_onnx(plan.model.graph)) if plan.model.contract else Border()
