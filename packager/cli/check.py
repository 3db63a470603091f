"""`mobpack check`: plans the files for each provider and proves them, without packaging."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

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
from packager.cli.project_options import ProjectOptions, into

if TYPE_CHECKING:
    from packager.workflows.build import Examination


@dataclass(frozen=True, kw_only=True)
class CheckOptions(ProjectOptions):
    """Options of `mobpack check`."""

    gates: tuple[str, ...]
    runners: str
    require: str
    evidence: Path
    page: Path | None
    sides: tuple[str, str] | None
    strict: bool
    allow_outside: bool
    as_json: bool


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
@into(CheckOptions)
def check(options: CheckOptions) -> None:
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
    from packager.workflows.requested import BuildRequest, requested_targets

    page, as_json = options.page, options.as_json
    console = Console(quiet=as_json)
    targets = options.targets or ((DEFAULT_TARGET,) if options.model else ())
    settings = with_runners(options.settings, options.runners, options.require)
    config = replace(options, targets=targets, settings=settings).config()
    refuse_outside(config, options.folder, is_outside_allowed=options.allow_outside)
    request = BuildRequest(
        targets=requested_targets(config, targets),
        out=Path(),
        rules=Rules(gates=parse_gates(options.gates, config.check), strict=options.strict, evidence=options.evidence),
    )
    if options.sides and page:
        raise ConfigError("--bisect writes no report", hint="omit --report, or run the check without --bisect")
    if options.sides:
        part(config, request, options.sides, console, as_json=as_json)
        return
    found = workflow.check(config, request, console, page)
    if not as_json:
        for plan in found.plans:
            show(plan, found, console)
        for proof in found.report.pipelines:
            console.result(f"pipeline {proof.pipeline} for {', '.join(proof.places)} on {proof.runner}: {proof.words}")
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
    from packager.core.to_json import plain
    from packager.distribution.release.manifest import kernels_entry, parity_entry, partition_entry, plan_entry

    return {
        "plans": [plan_entry(plan) for plan in found.plans],
        "partitions": [partition_entry(each) for each in found.report.partitions],
        "kernels": [kernels_entry(each) for each in found.report.kernels],
        "parity": [parity_entry(each) for each in found.report.parities],
        "pipelines": [plain(each) for each in found.report.pipelines],
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
