"""Output of `mobpack check`: the plan, partitions, kernels, and the comparison on every runner."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from packager.core.console import Console
    from packager.core.findings import CpuFallback, KernelProof, Parity, Partition
    from packager.core.values import Choice, Compiled, Plan
    from packager.workflows.build import Examination


def show(plan: "Plan", found: "Examination", console: "Console") -> None:
    """Prints the check of one model on one target."""
    from packager.core.console import size
    from packager.reporting.added import added

    total = size(sum(each.size_bytes for each in plan.files))
    files = "1 file" if len(plan.files) == 1 else f"{len(plan.files)} files"
    console.result(f"{plan.model.name} on {plan.target}: {files}, {total}")
    rows = [
        [_provider(choice), _name(choice.compiled), size(choice.compiled.size_bytes), choice.reason]
        for choice in plan.choices
    ]
    rows += [[each.provider, "no file", "", each.reason] for each in plan.left_out]
    console.table("", ["provider", "opens", "adds", "because"], rows)
    for line in added(plan):
        console.result(line.words)
    mine = [each for each in found.report.partitions if (each.model, each.target) == (plan.model.name, plan.target)]
    if mine:
        console.table(
            "",
            ["provider", "nodes", "partitions", "MACs", "CPU fallbacks", "source"],
            [_partition_row(each) for each in mine],
        )
    for words in dict.fromkeys(each.contract for each in mine if each.contract):
        console.result(words)
    console.table(
        "",
        ["file", "for", "kernels"],
        [_file_row(each, plan, found) for each in plan.files],
    )
    compare([each for each in found.report.parities if each.model == plan.model.name], plan, console)
    for agreement in found.report.agreements:
        if agreement.model == plan.model.name:
            console.result(f"engines ({agreement.variant}): {agreement.words}")


def compare(compared: "list[Parity]", plan: "Plan", console: "Console") -> None:
    """Prints the comparisons as a table of runners by files."""
    if not compared:
        return
    columns = {(each.sha256, each.against): _subject(each, plan) for each in compared}
    console.table(
        "Largest error, as a share of the output's scale",
        ["runner", *columns.values()],
        _matrix(compared, list(columns)),
    )
    for line in _notes(compared):
        console.result(line)


def _provider(each: "Choice | Partition") -> str:
    return f"{each.provider} ({', '.join(each.soc_models)})" if each.soc_models else each.provider


def _name(compiled: "Compiled") -> str:
    name = f"{compiled.style} .{compiled.format}"
    return f"{name} {compiled.processor} {compiled.sha256[:8]}".replace("  ", " ")


FALLBACKS_SHOWN = 3
"""groups of nodes shown; `--json` prints all of them"""


def _partition_row(each: "Partition") -> list[str]:
    if each.skipped:
        return [_provider(each), "", "", "", "", f"not examined: {each.skipped}"]
    if each.refusal:
        return [_provider(each), "does not start", "", "", "everything", f"{each.by}: {each.refusal}"]
    fallbacks = [_fallback(one) for one in each.left]
    more = [f"and {len(fallbacks) - FALLBACKS_SHOWN} more kinds"] if len(fallbacks) > FALLBACKS_SHOWN else []
    return [
        _provider(each),
        f"{each.taken_count} of {each.node_count}",
        str(each.partition_count),
        "none in it" if each.share is None else f"{each.share:.1%}",
        "\n".join(fallbacks[:FALLBACKS_SHOWN] + more) or "nothing",
        f"{'measured' if each.is_measured else 'predicted'}: {each.by}",
    ]


def _fallback(left: "CpuFallback") -> str:
    """`2 Einsum: operator not supported`; some reasons begin with the operator's name themselves."""
    reason = left.reason.removeprefix(f"{left.operator}: ")
    return f"{left.count} {left.operator}{f': {reason}' if reason else ''}"


def _file_row(compiled: "Compiled", plan: "Plan", found: "Examination") -> list[str]:
    """The providers that open the file, and the proof that it has kernels."""
    key = plan.model.name, compiled.sha256
    users = [_provider(choice) for choice in plan.choices if choice.compiled.sha256 == compiled.sha256]
    kernels = [_kernels(each) for each in found.report.kernels if (each.model, each.sha256) == key]
    return [_name(compiled), ", ".join(dict.fromkeys(users)), "\n".join(kernels)]


def _kernels(proof: "KernelProof") -> str:
    return f"not proven: {proof.skipped}" if proof.skipped else f"all {proof.node_count} nodes: {proof.by}"


def _subject(parity: "Parity", plan: "Plan") -> str:
    """The compared graph and its variant: a file of the plan, or the ONNX graph that files are made from."""
    file = next((_name(each) for each in plan.files if each.sha256 == parity.sha256), "ONNX graph")
    return f"{parity.variant}: {file}"


def _matrix(compared: "list[Parity]", columns: list[tuple[str, str]]) -> list[list[str]]:
    """One row per runner, one cell per file; empty where a runner does not open the file."""
    rows: dict[str, dict[tuple[str, str], str]] = {}
    for each in compared:
        rows.setdefault(each.label, {})[each.sha256, each.against] = _verdict(each)
    return [[label, *(cells.get(column, "") for column in columns)] for label, cells in rows.items()]


def _verdict(parity: "Parity") -> str:
    if parity.skipped:
        return "skipped"
    if parity.refusal:
        return "refused"
    if parity.nothing_compared or parity.nodes_not_judged:
        return "not compared"
    if parity.is_judged_locally and not parity.over:
        return "ok by node"
    return f"{parity.max_rel_error:.2g} {'OVER' if parity.over else 'ok'}"


def _notes(compared: "list[Parity]") -> "list[str]":
    """Samples and tolerances of the comparisons, then why runners were skipped, each line once."""
    notes = [
        f"compared with {each.against}, {each.samples}"
        + (
            ""
            if each.from_original is None
            else f"; {each.from_original:.2g} from the original on {each.distance_samples}"
        )
        for each in compared
        if each.outputs
    ]
    notes += _allowed([each for each in compared if each.outputs])
    notes += [f"{each.label} ran on {each.runs_on}{_placed(each)}" for each in compared if each.outputs]
    notes += [f"{each.model} is {each.conditioning}" for each in compared if each.conditioning]
    notes += [f"{each.label} skipped: {each.skipped}" for each in compared if each.skipped]
    notes += [f"{each.label} refused: {each.refusal}" for each in compared if each.refusal]
    return list(dict.fromkeys(notes))


def _allowed(compared: "list[Parity]") -> list[str]:
    """Tolerances, each with its runners. An output may have its own tolerance: --json lists them."""
    labels: dict[str, dict[str, None]] = {}
    for each in compared:
        allowed = "rtol 1e-3, atol 1e-5" if each.runner == "recorded" else f"{each.atol:g} + {each.tolerance:g} x scale"
        labels.setdefault(allowed, {})[each.label] = None
    return [f"allowed on {', '.join(names)}: {allowed}" for allowed, names in labels.items()]


def _placed(parity: "Parity") -> str:
    return "" if parity.placed is None else f": {parity.placed} of {parity.node_count} nodes on its provider"
