"""`mobpack check`: which graph ships for which provider, what runs where, and what was proven; packages nothing."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from packager.cli.build import configured
from packager.cli.options import (
    MODEL,
    config_option,
    fail_on_option,
    json_option,
    parse_gates,
    print_json,
    set_option,
    shape_option,
    target_option,
)

if TYPE_CHECKING:
    from packager.console import Console
    from packager.pipeline import Examination
    from packager.values import Choice, Compiled, KernelProof, Left, Parity, Partition, Plan


@click.command(short_help="Show the plan for each provider and prove it.")
@click.argument("model", type=MODEL, required=False)
@target_option
@config_option
@set_option
@shape_option
@fail_on_option
@click.option("--strict", is_flag=True, help="Fail on warnings.")
@json_option
def check(
    model: Path | None,
    targets: tuple[str, ...],
    config_path: Path,
    settings: tuple[str, ...],
    shapes: tuple[str, ...],
    gates: tuple[str, ...],
    strict: bool,
    as_json: bool,
) -> None:
    """Plan MODEL.onnx, or the models of mobpack.toml, for each provider, and prove what a build would ship."""
    from packager import pipeline
    from packager.console import Console

    console = Console(quiet=as_json)
    config = configured(model, config_path, targets=targets, settings=settings, shapes=shapes)
    request = pipeline.Request(
        targets=pipeline.requested_targets(config, targets),
        out=Path(),
        strict=strict,
        gates=parse_gates(gates, config.check),
    )
    found = pipeline.check(config, request, console)
    if not as_json:
        for plan in found.plans:
            show(plan, found, console)
    pipeline.judge(found.report, request, console)
    if as_json:
        print_json(document(found))


def document(found: "Examination") -> dict[str, object]:
    from packager.release.manifest import kernels_entry, parity_entry, partition_entry, plan_entry

    return {
        "plans": [plan_entry(plan) for plan in found.plans],
        "partitions": [partition_entry(each) for each in found.report.partitions],
        "kernels": [kernels_entry(each) for each in found.report.kernels],
        "parity": [parity_entry(each) for each in found.report.parities],
        "warnings": list(found.warnings),
    }


def show(plan: "Plan", found: "Examination", console: "Console") -> None:
    """One model on one target, on one screen."""
    from packager.console import size

    total = size(sum(each.size_bytes for each in plan.files))
    files = "1 file" if len(plan.files) == 1 else f"{len(plan.files)} files"
    console.result(f"{plan.model.name} on {plan.target}: {files}, {total}")
    rows = [
        [_provider(choice), _name(choice.compiled), size(choice.compiled.size_bytes), choice.reason]
        for choice in plan.choices
    ]
    console.table("", ["provider", "opens", "adds", "because"], rows)
    mine = [each for each in found.report.partitions if (each.model, each.target) == (plan.model.name, plan.target)]
    if mine:
        console.table(
            "",
            ["provider", "nodes", "partitions", "multiply-adds", "stays on the CPU", "says"],
            [_split(each) for each in mine],
        )
    console.table(
        "",
        ["file", "for", "kernels", "numbers, as shares of the largest"],
        [_proven(each, plan, found) for each in plan.files],
    )


def _provider(each: "Choice | Partition") -> str:
    return f"{each.provider} ({', '.join(each.soc_models)})" if each.soc_models else each.provider


def _name(compiled: "Compiled") -> str:
    name = f"{compiled.style} .{compiled.format}"
    return f"{name} {compiled.processor} {compiled.sha256[:8]}".replace("  ", " ")


LEFT_SHOWN = 3
"""groups of nodes; `--json` has them all"""


def _split(each: "Partition") -> list[str]:
    if each.skipped:
        return [_provider(each), "", "", "", "", f"not examined: {each.skipped}"]
    if each.refusal:
        return [_provider(each), "does not start", "", "", "everything", f"{each.by}: {each.refusal}"]
    left = [_left(one) for one in each.left]
    more = [f"and {len(left) - LEFT_SHOWN} more kinds"] if len(left) > LEFT_SHOWN else []
    return [
        _provider(each),
        f"{each.taken_count} of {each.node_count}",
        str(each.partition_count),
        "none in it" if each.share is None else f"{each.share:.1%}",
        "\n".join(left[:LEFT_SHOWN] + more) or "nothing",
        f"{'measured' if each.is_measured else 'predicted'}: {each.by}",
    ]


def _left(left: "Left") -> str:
    """`2 Einsum: the provider does not know the operator`; some reasons begin with the operator's name themselves."""
    reason = left.reason.removeprefix(f"{left.operator}: ")
    return f"{left.count} {left.operator}{f': {reason}' if reason else ''}"


def _proven(compiled: "Compiled", plan: "Plan", found: "Examination") -> list[str]:
    """Whom the file is for, that it has kernels, and how far its numbers are from the original's."""
    key = plan.model.name, compiled.sha256
    users = [_provider(choice) for choice in plan.choices if choice.compiled.sha256 == compiled.sha256]
    kernels = [_kernels(each) for each in found.report.kernels if (each.model, each.sha256) == key]
    numbers = [_numbers(each) for each in found.report.parities if (each.model, each.sha256) == key]
    return [_name(compiled), ", ".join(dict.fromkeys(users)), "\n".join(kernels), "\n".join(numbers)]


def _kernels(proof: "KernelProof") -> str:
    return f"not proven: {proof.skipped}" if proof.skipped else f"all {proof.node_count} nodes: {proof.by}"


def _numbers(parity: "Parity") -> str:
    if parity.skipped:
        return f"not compared on {parity.runner}: {parity.skipped}"
    rounding = "" if parity.from_original is None else f", which is {parity.from_original:.2g} from the original"
    return (
        f"on {parity.runner} within {parity.max_rel_error:.2g} of {parity.against}{rounding} "
        f"({parity.tolerance:g} allowed; {parity.samples})"
    )
