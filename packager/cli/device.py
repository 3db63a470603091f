"""`mobpack device`: lists connected devices, and tests, compares and times there what ships."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from packager.cli.device_options import (
    device_option,
    model_option,
    package_option,
    provider_option,
    runtime_option,
    timeout_option,
)
from packager.cli.device_results import app, read, show, show_tables, xcode_tests
from packager.cli.options import (
    MODEL,
    cache_option,
    config_option,
    evidence_option,
    json_option,
    no_code_option,
    print_json,
    set_option,
    shape_option,
)
from packager.cli.project_options import ProjectOptions, into

if TYPE_CHECKING:
    from packager.workflows.device.benching import DeviceBenchRequest
    from packager.workflows.device.checking import CheckedDevices
    from packager.workflows.device.preparing import Wanted


@dataclass(frozen=True, kw_only=True)
class DeviceOptions:
    """Options that say what runs on which devices."""

    package: Path
    devices: tuple[str, ...]
    providers: tuple[str, ...]
    models: tuple[str, ...] = ()
    runtime: Path | None
    timeout_s: float

    def wanted(self) -> "Wanted":
        """The request for the workflow. Raises ConfigError for an unknown provider."""
        from packager.core.errors import ConfigError, nearest
        from packager.providers import PROVIDERS
        from packager.workflows.device.preparing import Wanted

        known = ["cpu", *PROVIDERS]
        for name in self.providers:
            if name not in known:
                raise ConfigError(f"--provider {name}: unknown provider", hint=nearest(name, known))
        return Wanted(
            package=self.package,
            devices=self.devices,
            providers=self.providers,
            models=self.models,
            runtime=self.runtime,
            timeout_s=self.timeout_s,
        )


@dataclass(frozen=True, kw_only=True)
class SelfTestOptions(DeviceOptions):
    """Options of `mobpack device self-test`."""

    as_json: bool


@dataclass(frozen=True, kw_only=True)
class BenchOptions(DeviceOptions):
    """Options of `mobpack device bench`."""

    sample: Path | None
    threads: int
    rounds: int
    seconds: float
    cool_down: float
    wait: float
    gates: tuple[str, ...]
    baseline: Path | None
    page: Path | None
    merge: Path | None
    as_json: bool


@dataclass(frozen=True, kw_only=True)
class CheckOptions(DeviceOptions, ProjectOptions):
    """Options of `mobpack device check`."""

    evidence: Path
    sides: tuple[str, str] | None
    as_json: bool


@click.group(short_help="Run what ships on connected devices.")
def device() -> None:
    """Run what ships on the devices that are connected: no app is needed.

    Start with: mobpack device list
    """


for command in (app, xcode_tests, read):
    device.add_command(command)


@device.command("list", short_help="List connected devices.")
@json_option
def list_devices(as_json: bool) -> None:
    """List the devices that are connected, and what to do about those that take no commands."""
    from packager.core.console import Console
    from packager.workflows.device import listing

    found = listing.listing()
    if as_json:
        print_json({"devices": [listing.document(each) for each in found]})
        return
    console = Console()
    if not found:
        console.say("no device is connected: plug one in, and turn on USB debugging in its developer options")
        return
    console.table("", listing.COLUMNS, [listing.cells(each) for each in found])


@device.command("self-test", short_help="Have the models of a package test themselves.")
@package_option
@device_option
@provider_option
@model_option
@runtime_option
@timeout_option
@json_option
@into(SelfTestOptions)
def self_test(options: SelfTestOptions) -> None:
    """Run the samples that travel with a package on devices, with every provider, by the package's own code."""
    from packager.core.console import Console
    from packager.core.errors import MobpackError
    from packager.core.to_json import plain
    from packager.measuring.devices import words
    from packager.workflows.device import self_testing
    from packager.workflows.device.preparing import is_interrupted

    as_json = options.as_json
    console = Console(quiet=as_json)
    found = self_testing.self_test(options.wanted(), console)
    if not as_json:
        show_tables(words.test_tables(found), console)
        for line in words.device_notes(found.devices):
            console.result(line)
    if is_interrupted(found.devices):
        if as_json:
            print_json(plain(found))
        raise KeyboardInterrupt("some tests were not made")
    try:
        self_testing.judge(found)
    except MobpackError as error:
        error.document = plain(found)
        raise
    if as_json:
        print_json(plain(found))


@device.command(short_help="Time what ships.")
@package_option
@device_option
@provider_option
@model_option
@click.option("--sample", type=MODEL, help="Inputs to run on, .npz keyed by input name; default: the package's own.")
@click.option(
    "--threads",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="Threads of a run; 0: as many as the package takes by itself.",
)
@click.option(
    "--rounds",
    type=click.IntRange(1, 100),
    default=5,
    show_default=True,
    help="Number of rounds; each is a new process.",
)
@click.option(
    "--seconds",
    type=click.FloatRange(0, 600, min_open=True),
    default=1.0,
    show_default=True,
    help="Longest time of a round; a round has 5 to 500 runs.",
)
@click.option(
    "--cool-down",
    type=click.FloatRange(0, 3600),
    default=60.0,
    show_default=True,
    help="Longest wait in seconds for a device that is throttled, before each round.",
)
@click.option(
    "--wait",
    type=click.FloatRange(0, 3600),
    default=120.0,
    show_default=True,
    help="Longest wait in seconds for a device that goes away or restarts.",
)
@click.option(
    "--fail-on",
    "gates",
    multiple=True,
    metavar="GATE",
    help="Fail with exit code 6: p90=12ms@SM8650, p50@nnapi=9ms, load, memory=200MB, or slower. Repeatable.",
)
@click.option("--baseline", type=MODEL, help="JSON of an earlier run to compare with.")
@click.option("--report", "page", type=MODEL, help="Write an HTML page with plots, and the JSON beside it.")
@click.option(
    "--merge",
    type=MODEL,
    help="Folder of a release, before it is signed: add the results to its report.html and manifest.json.",
)
@runtime_option
@timeout_option
@json_option
@into(BenchOptions)
def bench(options: BenchOptions) -> None:
    """Time the models of a package on devices, with every provider, by the package's own code: latency, load, memory,
    and how many nodes each provider runs.

    For example: mobpack device bench --device 'Pixel*' --report devices.html
    """
    from packager.core.console import Console
    from packager.core.errors import MobpackError
    from packager.core.to_json import plain
    from packager.measuring.bench.writing import in_lines
    from packager.measuring.devices import merging
    from packager.workflows.device import benching
    from packager.workflows.device.preparing import is_interrupted

    page, merge, as_json = options.page, options.merge, options.as_json
    console = Console(quiet=as_json)
    request = _request(options)
    if merge:
        merging.refuse_unfit(merge)
    found = benching.bench(request, console)
    if not as_json:
        show(found, console)
    if is_interrupted(found.devices):
        if as_json:
            click.echo(in_lines(found), nl=False)
        raise KeyboardInterrupt("some rounds are missing; no file was written")
    if page:
        benching.write_report(page, found)
        console.say(f"report: {page}")
    if merge:
        merging.merge(merge, found)
        console.say(f"merged into {merge}")
    try:
        benching.judge(found)
    except MobpackError as error:
        error.document = plain(found)
        raise
    if as_json:
        click.echo(in_lines(found), nl=False)


def _request(options: BenchOptions) -> "DeviceBenchRequest":
    from packager.engines.runners import Pace
    from packager.measuring.devices import comparing
    from packager.measuring.devices.gates import parse
    from packager.measuring.devices.measuring import DeviceMethod
    from packager.workflows.device.benching import DeviceBenchRequest

    return DeviceBenchRequest(
        wanted=options.wanted(),
        method=DeviceMethod(
            rounds=options.rounds,
            threads=options.threads,
            pace=Pace(seconds=options.seconds),
            cool_down_s=options.cool_down,
            wait_s=options.wait,
        ),
        sample=options.sample,
        gates=parse(options.gates, has_baseline=options.baseline is not None),
        baseline=comparing.read(options.baseline) if options.baseline else None,
    )


@device.command(short_help="Compare with the original.")
@click.argument("model", type=MODEL, required=False)
@config_option
@set_option
@shape_option
@package_option
@device_option
@provider_option
@evidence_option
@click.option(
    "--bisect",
    "sides",
    nargs=2,
    metavar="A B",
    help="Find the first node where two sides diverge: device:PROVIDER, and a side of `mobpack check --bisect`.",
)
@runtime_option
@timeout_option
@cache_option
@no_code_option
@json_option
@into(CheckOptions)
def check(options: CheckOptions) -> None:
    """Compare the files that ship of MODEL.onnx, or of the models of mobpack.toml, with the originals on devices, with
    the samples and tolerances of `mobpack check`.

    For example: mobpack device check --bisect cpu device:qnn
    """
    from packager.cli.bisection import show
    from packager.core.console import Console
    from packager.core.errors import MobpackError
    from packager.measuring.devices import words
    from packager.workflows.device import checking
    from packager.workflows.gates import Rules
    from packager.workflows.requested import BuildRequest

    as_json, evidence = options.as_json, options.evidence
    console = Console(quiet=as_json)
    config = replace(options, targets=(checking.TARGET,)).config()
    request = BuildRequest(targets=(checking.TARGET,), out=Path(), rules=Rules(evidence=evidence))
    wanted = options.wanted()
    if options.sides:
        show(checking.bisected(config, request, wanted, options.sides, console), evidence, console, as_json=as_json)
        return
    found = checking.check(config, request, wanted, console)
    if not as_json:
        if found.report.parities:
            console.table("", words.PARITY_COLUMNS, [words.parity_cells(each) for each in found.report.parities])
        for line in words.device_notes(found.devices):
            console.result(line)
    try:
        checking.judge(found)
    except MobpackError as error:
        error.document = _document(found)
        raise
    if as_json:
        print_json(_document(found))


def _document(found: "CheckedDevices") -> dict[str, object]:
    from packager.core.to_json import plain
    from packager.distribution.release.manifest import parity_entry

    return {
        "devices": plain(found.devices),
        "parity": [parity_entry(each) for each in found.report.parities],
        "failures": [
            {"message": each.message, "node": each.node, "evidence": str(each.evidence or "")}
            for each in found.report.failures
        ],
    }


@device.command(short_help="Remove mobpack's files from devices.")
@device_option
def clean(devices: tuple[str, ...]) -> None:
    """Remove everything that mobpack has left on devices."""
    from packager.core.console import Console, size
    from packager.workflows.device import listing

    console = Console()
    for name, count in listing.clean(devices):
        console.result(f"{name}: removed {size(count)}")
