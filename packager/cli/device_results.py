"""`mobpack device app`, `xcode` and `read`: for devices in farms, and for those at somebody else's desk."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from packager.cli.device_options import package_option, runtime_option
from packager.cli.options import MODEL, json_option, print_json
from packager.cli.project_options import into
from packager.cli.tune import Ends, dry_run_option, give_recorded, minutes_option, most_option, project_option

if TYPE_CHECKING:
    from collections.abc import Iterable

    from packager.core.console import Console
    from packager.measuring.devices.document import DeviceDocument
    from packager.measuring.devices.words import Table

gate_option = click.option(
    "--fail-on", "gates", multiple=True, metavar="GATE", help="Fail with exit code 6, as in `mobpack device bench`."
)
baseline_option = click.option("--baseline", type=MODEL, help="JSON of an earlier run to compare with.")
page_option = click.option("--report", "page", type=MODEL, help="Write an HTML page, and the JSON beside it.")


@click.command(short_help="Make an app for device farms.")
@package_option
@click.option(
    "--out", "output", type=MODEL, default=Path("mobpack-farm"), show_default=True, help="Folder to write the app to."
)
@click.option(
    "--abi",
    "abis",
    multiple=True,
    type=click.Choice(["arm64-v8a", "armeabi-v7a", "x86_64", "x86"]),
    help="Processor to make it for. Repeatable; default: those of phones.",
)
@click.option(
    "--rounds",
    type=click.IntRange(1, 100),
    default=3,
    show_default=True,
    help="Number of rounds; each loads the model.",
)
@click.option(
    "--seconds",
    type=click.FloatRange(0, 600, min_open=True),
    default=1.0,
    show_default=True,
    help="Longest time of a round.",
)
@click.option(
    "--threads",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="Threads of a run; 0: as many as the package takes by itself.",
)
@runtime_option
def app(
    package: Path,
    output: Path,
    abis: tuple[str, ...],
    rounds: int,
    seconds: float,
    threads: int,
    runtime: Path | None,
) -> None:
    """Make an app that times and tests a package on its own: an .apk, the .apk of its instrumentation, and an .aab,
    signed with a debug key. Neither an Android SDK nor Gradle is needed.

    Upload them to a farm, and give what comes back to `mobpack device read`.
    """
    from packager.core.console import Console, size
    from packager.engines.runners import Pace
    from packager.workflows.device.farming import ABIS, AppRequest
    from packager.workflows.device.farming import app as make

    console = Console()
    request = AppRequest(
        package=package,
        output=output,
        runtime=runtime,
        abis=abis or ABIS[:2],
        rounds=rounds,
        threads=threads,
        pace=Pace(seconds=seconds),
    )
    made, models = make(request, console)
    for path in made.files():
        console.result(f"{path}  {size(path.stat().st_size)}")
    console.say(f"it runs {', '.join(models)}; docs/bench.md says how farms take it")


@dataclass(frozen=True, kw_only=True)
class XcodeOptions:
    """Options of `mobpack device xcode`."""

    package: Path
    output: Path
    is_run: bool
    device: str
    team: str
    is_search: bool
    most: int
    minutes: float
    project: Path
    dry_run: bool
    journal: Path
    gates: tuple[str, ...]
    baseline: Path | None
    page: Path | None
    as_json: bool


@click.command("xcode", short_help="Make an Xcode project that tests a Swift package on devices.")
@click.argument("package", type=MODEL)
@click.option("--out", "output", type=MODEL, default=Path(), help="Folder for DeviceTests; default: this one.")
@click.option(
    "--run", "is_run", is_flag=True, help="On a Mac: run the test on a device, read its results; keep no project."
)
@click.option(
    "--device", metavar="PATTERN", default="", help="Name, udid or type, with * and ?; default: the only one."
)
@click.option("--team", metavar="ID", default="", help="Team of Apple's developer account that signs the test.")
@click.option(
    "--tune",
    "is_search",
    is_flag=True,
    help="Measure ways to run each model instead: providers, threads, options. `mobpack tune --from` decides.",
)
@most_option(help="With --tune: ways to run a model.")
@minutes_option(help="With --tune: longest search for a model.")
@project_option(help="With --tune --run: the project, into which the settings are written.")
@dry_run_option(help="With --tune --run: only print what would be written.")
@click.option(
    "--journal",
    type=MODEL,
    default=Path("mobpack-tune"),
    show_default=True,
    help="With --tune --run: folder for the results, which `mobpack tune --from` reads again.",
)
@gate_option
@baseline_option
@page_option
@json_option
@into(XcodeOptions)
def xcode_tests(options: XcodeOptions) -> None:
    """Make an Xcode project whose test times and checks the Swift PACKAGE, a folder dist/swift/NAME, on an iPhone.

    Its README says how to run it, on a Mac; give the results to `mobpack device read`. With --run, all of that is done.

    With --tune, the test searches for the fastest settings; give its results to `mobpack tune --from`.
    """
    _refuse_unfit(click.get_current_context(), is_run=options.is_run, is_search=options.is_search)
    if options.is_search:
        _tune(options)
        return
    if options.is_run:
        _run(options)
        return
    from packager.core.console import Console
    from packager.measuring.devices.xcode_tests import write_device_tests

    folder, tests = write_device_tests(options.package, options.output)
    Console().result(f"{folder}: tests of {', '.join(tests.classes)}; on a Mac, follow {folder / 'README.md'}")


def _tune(options: XcodeOptions) -> None:
    """Writes the test that searches, or runs it."""
    from packager.core.console import Console
    from packager.workflows import tune_results
    from packager.workflows.device import iphone_tuning

    bounds = iphone_tuning.Bounds(most=options.most, minutes=options.minutes)
    console = Console(quiet=options.as_json)
    if not options.is_run:
        folder, tests, plan = iphone_tuning.write(options.package, options.output, bounds)
        console.result(
            f"{folder}: {len(plan.candidates)} ways to run {', '.join(tests.classes)}; on a Mac, follow "
            f"{folder / 'README.md'}"
        )
        return
    if not options.dry_run:
        tune_results.text_of(options.project)  # refused before the search
    wanted = iphone_tuning.RunRequest(
        package=options.package, bounds=bounds, kept=options.journal, device=options.device, team=options.team
    )
    kept = iphone_tuning.run(wanted, console)
    console.say(f"results: {kept}")
    ends = Ends(report=options.page, as_json=options.as_json)
    give_recorded((kept,), options.project, (), ends, console, dry_run=options.dry_run)


def _run(options: XcodeOptions) -> None:
    """Runs the test on a device, and gives its results."""
    from packager.core.console import Console
    from packager.measuring.devices import comparing
    from packager.measuring.devices.gates import parse
    from packager.workflows.device import iphone_testing

    before = comparing.read(options.baseline) if options.baseline else None
    request = iphone_testing.RunRequest(
        package=options.package,
        device=options.device,
        team=options.team,
        gates=parse(options.gates, has_baseline=before is not None),
        baseline=before,
    )
    console = Console(quiet=options.as_json)
    _give(iphone_testing.run(request, console), options.page, console, as_json=options.as_json)


def _refuse_unfit(context: click.Context, *, is_run: bool, is_search: bool) -> None:
    """Raises UsageError for an option that needs another one, or has no meaning beside --tune."""
    needs_run = ("device", "team", "gates", "baseline", "page", "as_json", "project", "dry_run", "journal")
    needs_search = ("most", "minutes", "project", "dry_run", "journal")
    for parameter in context.command.params:
        if context.get_parameter_source(parameter.name or "") is not click.core.ParameterSource.COMMANDLINE:
            continue
        option = parameter.opts[0]
        if parameter.name in needs_search and not is_search:
            raise click.UsageError(f"{option} needs --tune")
        if parameter.name in needs_run and not is_run:
            raise click.UsageError(f"{option} needs --run")
        if parameter.name in ("gates", "baseline") and is_search:
            raise click.UsageError(f"{option} is for a package as it is: leave it out with --tune")


@click.command(short_help="Read results that came back from devices.")
@click.argument("results", type=MODEL)
@gate_option
@baseline_option
@page_option
@json_option
def read(results: Path, gates: tuple[str, ...], baseline: Path | None, page: Path | None, as_json: bool) -> None:
    """Read RESULTS that a farm or a Mac has given back: a file, an archive, a log, or a folder of all that."""
    from packager.core.console import Console
    from packager.measuring.devices import comparing
    from packager.measuring.devices.gates import parse
    from packager.workflows.device import farming

    console = Console(quiet=as_json)
    before = comparing.read(baseline) if baseline else None
    found = farming.read(results, parse(gates, has_baseline=before is not None), before, console)
    _give(found, page, console, as_json=as_json)


def _give(found: "DeviceDocument", page: Path | None, console: "Console", *, as_json: bool) -> None:
    """Prints results, writes their page, and raises the error of a gate that was not met."""
    from packager.core.errors import MobpackError
    from packager.core.to_json import plain
    from packager.workflows.device import benching

    if not as_json:
        show(found, console)
    if page:
        benching.write_report(page, found)
        console.say(f"report: {page}")
    try:
        benching.judge(found)
    except MobpackError as error:
        error.document = plain(found)
        raise
    if as_json:
        print_json(plain(found))


def show(found: "DeviceDocument", console: "Console") -> None:
    from packager.measuring.devices import words

    show_tables(words.tables(found), console)
    for line in words.notes(found):
        console.result(line)
    for line in words.warnings(found):
        console.caution(line)


def show_tables(tables: "Iterable[Table]", console: "Console") -> None:
    for title, columns, rows in tables:
        console.table(title, columns, rows)
