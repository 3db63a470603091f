"""`mobpack check`: plans the files for each provider and proves them, without packaging."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from packager.cli.build import configured, folder_of, with_cache
from packager.cli.options import (
    MODEL,
    cache_option,
    config_option,
    evidence_option,
    fail_on_option,
    json_option,
    no_code_option,
    outside_option,
    parse_gates,
    print_json,
    require_option,
    runners_option,
    set_option,
    shape_option,
    target_option,
    with_runners,
)

if TYPE_CHECKING:
    from packager.workflows.build import Examination


@click.command(short_help="Plan the files for each provider and prove them.")
@click.argument("model", type=MODEL, required=False)
@target_option
@config_option
@set_option
@shape_option
@fail_on_option
@runners_option
@require_option
@evidence_option
@click.option("--report", "page", type=MODEL, help="Write the report as an HTML page, with JSON beside it.")
@click.option(
    "--bisect",
    "sides",
    nargs=2,
    metavar="A B",
    help="Find the first node where two sides diverge: original, a runner (arm64), a variant, or VARIANT@RUNNER.",
)
@click.option("--strict", is_flag=True, help="Treat warnings as errors.")
@cache_option
@no_code_option
@outside_option
@json_option
def check(
    model: Path | None,
    targets: tuple[str, ...],
    config_path: Path,
    settings: tuple[str, ...],
    shapes: tuple[str, ...],
    gates: tuple[str, ...],
    runners: str,
    require: str,
    evidence: Path,
    page: Path | None,
    sides: tuple[str, str] | None,
    strict: bool,
    cache_url: str | None,
    no_code: bool,
    allow_outside: bool,
    as_json: bool,
) -> None:
    """Plan MODEL.onnx, or the models of mobpack.toml, for each provider, and prove the files that a build would ship.

    Without a target, the model is checked for android.
    """
    from packager.cli.bisection import part
    from packager.cli.examination import show
    from packager.core.console import Console
    from packager.core.errors import ConfigError, MobpackError
    from packager.workflows import build as workflow
    from packager.workflows.confinement import refuse_outside
    from packager.workflows.gates import Rules, judge
    from packager.workflows.requested import Request, requested_targets

    console = Console(quiet=as_json)
    settings = with_runners(settings, runners, require)
    targets = targets or ((DEFAULT_TARGET,) if model else ())
    config = configured(model, config_path, targets=targets, settings=settings, shapes=shapes, has_code=not no_code)
    config = with_cache(config, cache_url)
    refuse_outside(config, folder_of(model, config_path), is_outside_allowed=allow_outside)
    request = Request(
        targets=requested_targets(config, targets),
        out=Path(),
        rules=Rules(gates=parse_gates(gates, config.check), strict=strict, evidence=evidence),
    )
    if sides and page:
        raise ConfigError("--bisect writes no report", hint="omit --report, or run the check without --bisect")
    if sides:
        part(config, request, sides, console, as_json=as_json)
        return
    found = workflow.check(config, request, console, page)
    if not as_json:
        for plan in found.plans:
            show(plan, found, console)
        if page:
            console.result(f"report: {page}")
    try:
        judge(found.report, request.rules, console)
    except MobpackError as error:
        error.document = document(found)
        raise
    if as_json:
        print_json(document(found))


DEFAULT_TARGET = "android"


def document(found: "Examination") -> dict[str, object]:
    from packager.release.manifest import kernels_entry, parity_entry, partition_entry, plan_entry

    return {
        "plans": [plan_entry(plan) for plan in found.plans],
        "partitions": [partition_entry(each) for each in found.report.partitions],
        "kernels": [kernels_entry(each) for each in found.report.kernels],
        "parity": [parity_entry(each) for each in found.report.parities],
        "failures": [
            {"message": each.message, "node": each.node, "evidence": str(each.evidence or "")}
            for each in found.report.failures
        ],
        "engines": [
            {
                "model": each.model,
                "variant": each.variant,
                "engines": list(each.engines),
                "agree": list(each.agree),
                "alone": list(each.alone),
                "summary": each.words,
            }
            for each in found.report.agreements
        ],
        "warnings": list(found.warnings),
    }
