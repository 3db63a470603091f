"""`mobpack bench`: times a model, its variants and the files that ship, on every runner that the machine has."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from packager.cli.options import (
    MODEL,
    cache_option,
    config_option,
    json_option,
    no_code_option,
    parse_shapes,
    set_option,
    shape_option,
    target_option,
)
from packager.cli.project_options import ProjectOptions, into

if TYPE_CHECKING:
    from packager.config import Config
    from packager.core.console import Console
    from packager.measuring.bench.document import BenchDocument
    from packager.workflows.bench import BenchRequest


@dataclass(frozen=True, kw_only=True)
class BenchOptions(ProjectOptions):
    """Options of `mobpack bench`."""

    variants: tuple[str, ...]
    calibration: str | None
    against: str
    threads: int
    rounds: int
    seconds: float
    gates: tuple[str, ...]
    baseline: Path | None
    page: Path | None
    as_json: bool


@click.command(short_help="Time a model and what ships on the runners of this machine.")
@click.argument("model", type=MODEL, required=False)
@target_option
@click.option(
    "--variant",
    "variants",
    multiple=True,
    metavar="NAME",
    help="Also time this variant of mobpack.toml, or this quantizer with its defaults: dynamic, float16. Repeatable.",
)
@click.option("--calibration", metavar="SAMPLES", help="Calibration samples for --variant static-qdq or auto.")
@click.option(
    "--against",
    metavar="NAMES",
    default="",
    help="Runners to compare with the CPU: openvino,mnn,cuda. Default: every one that this machine has.",
)
@click.option(
    "--threads",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="Threads of a run, each on a core of its own.",
)
@click.option(
    "--rounds",
    type=click.IntRange(1, 100),
    default=5,
    show_default=True,
    help="Number of rounds; every runner takes part in each.",
)
@click.option(
    "--seconds",
    type=click.FloatRange(0, 600, min_open=True),
    default=1.0,
    show_default=True,
    help="Longest time of a round; a round has 5 to 500 runs.",
)
@click.option(
    "--fail-on",
    "gates",
    multiple=True,
    metavar="GATE",
    help="Fail with exit code 6: p90=12ms, p50@cpu=9ms, p99, load, cpu, memory=200MB, or slower. Repeatable.",
)
@click.option("--baseline", type=MODEL, help="JSON of an earlier run to compare with.")
@click.option("--report", "page", type=MODEL, help="Write an HTML page with plots, and the JSON beside it.")
@config_option
@set_option
@shape_option
@cache_option
@no_code_option
@json_option
@into(BenchOptions)
def bench(options: BenchOptions) -> None:
    """Time MODEL.onnx, or all files that mobpack.toml ships beside their originals: latency, throughput, load time,
    memory and CPU time.

    For example: mobpack bench model.onnx --variant dynamic --report bench.html
    """
    from packager.core.console import Console
    from packager.core.errors import MobpackError
    from packager.measuring.bench import writing
    from packager.workflows import bench as workflow

    page, as_json = options.page, options.as_json
    console = Console(quiet=as_json)
    config, request = _asked(options)
    found = workflow.bench(config, request, console)
    if as_json and found.is_partial:
        click.echo(writing.as_text(found), nl=False)
    if not as_json:
        _show(found, console)
    if found.is_partial:
        done = f"{found.method.rounds_done} of {found.method.rounds} rounds were complete"
        raise KeyboardInterrupt(f"{done}; no file was written")
    if page:
        workflow.write_report(page, found)
        console.say(f"report: {page}")
    try:
        workflow.judge(found)
    except MobpackError as error:
        error.document = _document(found)
        raise
    if as_json:
        click.echo(writing.as_text(found), nl=False)


def _asked(options: BenchOptions) -> "tuple[Config, BenchRequest]":
    from packager.engines.runners import Pace
    from packager.measuring.bench import comparing
    from packager.measuring.bench.gates import parse
    from packager.measuring.bench.rounds import Method
    from packager.workflows import trust
    from packager.workflows.bench import BenchRequest
    from packager.workflows.requested import requested_targets

    parse_shapes(options.shapes)
    gates = parse(options.gates, has_baseline=options.baseline is not None)
    baseline = comparing.read(options.baseline) if options.baseline else None
    if options.no_code:
        trust.refuse_texts({"--calibration": options.calibration})
    config = options.config()
    return config, BenchRequest(
        targets=() if options.model and not options.targets else requested_targets(config, options.targets),
        variants=options.variants,
        calibration=options.calibration,
        against=tuple(name.strip() for name in options.against.split(",") if name.strip()),
        method=Method(rounds=options.rounds, threads=options.threads, pace=Pace(seconds=options.seconds)),
        gates=gates,
        baseline=baseline,
    )


def _document(found: "BenchDocument") -> dict[str, object]:
    from packager.core.to_json import plain

    document: dict[str, object] = plain(found)
    return document


def _show(found: "BenchDocument", console: "Console") -> None:
    from packager.measuring.bench import words

    for line in words.heading(found):
        console.result(line)
    for title, columns, rows in words.tables(found):
        console.table(title, columns, rows)
    for line in words.notes(found):
        console.result(line)
    for line in words.warnings(found):
        console.caution(line)
