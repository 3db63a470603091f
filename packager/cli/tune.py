"""`mobpack tune`: searches for the fastest settings on connected devices."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from packager.cli.device_options import device_option, model_option, runtime_option, timeout_option
from packager.cli.options import MODEL, json_option, print_json
from packager.cli.project_options import into

if TYPE_CHECKING:
    from collections.abc import Sequence

    from packager.core.console import Console
    from packager.measuring.tuning.page import SearchBounds
    from packager.workflows.tune_results import FoundSettings


ON_DEVICES = ("packages", "devices", "most", "minutes", "seconds", "journal", "verdicts", "runtime", "timeout_s")
"""options of a search over adb, which results that are read have behind them"""

most_option = partial(click.option, "--most", type=click.IntRange(1, 1000), default=40, show_default=True)
minutes_option = partial(
    click.option, "--minutes", type=click.FloatRange(0, 1440, min_open=True), default=20.0, show_default=True
)
project_option = partial(
    click.option, "--config", "project", type=MODEL, default=Path("mobpack.toml"), show_default=True
)
dry_run_option = partial(click.option, "--dry-run", is_flag=True)


@dataclass(frozen=True, kw_only=True)
class TuneOptions:
    """Options of `mobpack tune`."""

    sources: tuple[Path, ...]
    packages: tuple[Path, ...]
    devices: tuple[str, ...]
    models: tuple[str, ...]
    project: Path
    dry_run: bool
    most: int
    minutes: float
    seconds: float
    journal: Path
    verdicts: tuple[Path, ...]
    report: Path | None
    merge: Path | None
    runtime: Path | None
    timeout_s: float
    as_json: bool


@dataclass(frozen=True, kw_only=True)
class Ends:
    """Places that a search is explained in."""

    report: Path | None
    merge: Path | None = None
    as_json: bool


@click.command(short_help="Find the fastest settings on devices.")
@click.option(
    "--from",
    "sources",
    multiple=True,
    type=MODEL,
    metavar="RESULTS",
    help="Decide on what the test of `mobpack device xcode --tune` has left: a file, a log, an archive, a folder or a "
    "result bundle. Repeatable.",
)
@click.option(
    "--package",
    "packages",
    multiple=True,
    type=MODEL,
    help="Folder of a release, or its library for Android; default: dist. Repeatable: others have other variants.",
)
@device_option
@model_option
@project_option(help="The project.")
@dry_run_option(help="Only print what would be written.")
@most_option(help="Candidates for a model on a device.")
@minutes_option(help="Longest search for a model on a device.")
@click.option(
    "--seconds",
    type=click.FloatRange(0, 600, min_open=True),
    default=1.0,
    show_default=True,
    help="Longest time of a round.",
)
@click.option(
    "--journal",
    type=MODEL,
    default=Path("mobpack-tune"),
    show_default=True,
    help="Folder for what was measured: a search that was stopped goes on from there.",
)
@click.option(
    "--verdicts",
    multiple=True,
    type=MODEL,
    help="JSON of `mobpack device self-test`, `bench` or `read`: a provider that a phone left out is left out on its "
    "chip. Repeatable.",
)
@click.option("--report", type=MODEL, help="Write an HTML page that explains the search.")
@click.option(
    "--merge", type=MODEL, help="Folder of the release, before it is signed: add the search to its report.html."
)
@runtime_option
@timeout_option
@json_option
@into(TuneOptions)
def tune(options: TuneOptions) -> None:
    """Find the provider, number of threads and options that run each model of a package the fastest on each device, and
    write them into mobpack.toml by chip. Packages that are built with them follow them at run time.

    Settings whose numbers are off, as the package's self-test judges, are left out; settings that are not faster than
    what ships, beyond chance, change nothing.

    With --from, rounds that iPhones have taken are decided: mobpack tune --from results
    """
    from packager.core.console import Console
    from packager.engines.runners import Pace
    from packager.measuring.devices import demotions, merging
    from packager.workflows import tune as tuning
    from packager.workflows import tune_results
    from packager.workflows.device.preparing import Wanted

    console = Console(quiet=options.as_json)
    ends = Ends(report=options.report, merge=options.merge, as_json=options.as_json)
    project = options.project
    if options.sources:
        _refuse_with_results(click.get_current_context())
        give_recorded(options.sources, project, options.models, ends, console, dry_run=options.dry_run)
        return
    first, *others = options.packages or (Path("dist"),)
    request = tuning.TuneRequest(
        wanted=Wanted(
            package=first,
            devices=options.devices,
            models=options.models,
            runtime=options.runtime,
            timeout_s=options.timeout_s,
        ),
        others=tuple(others),
        most=options.most,
        minutes=options.minutes,
        pace=Pace(seconds=options.seconds),
        journal=options.journal,
        project=project,
        demotions=demotions.read(options.verdicts),
    )
    if not options.dry_run:
        tune_results.text_of(project)  # refused before the search
    if options.merge:
        merging.refuse_unfit(options.merge)
    found = tuning.tune(request, console)
    advice = "run again to go on, or allow more --minutes"
    _explain(found, tuning.bounds_of(request), ends, console, advice=advice)
    if not options.dry_run:
        _write(project, found, console)


def give_recorded(
    sources: tuple[Path, ...],
    project: Path,
    models: tuple[str, ...],
    ends: Ends,
    console: "Console",
    *,
    dry_run: bool,
) -> None:
    """Decides the searches in results that came back, explains them, and writes the settings unless `dry_run`."""
    from packager.measuring.devices import merging
    from packager.workflows import tune_recorded as recorded

    if ends.merge:
        merging.refuse_unfit(ends.merge)
    request = recorded.RecordedTuneRequest(results=sources, project=project, models=models, is_dry=dry_run)
    read = recorded.recorded(request, console)
    advice = "give the test more --minutes, where it is made"
    _explain(read.found, read.bounds, ends, console, advice=advice)
    if not dry_run:
        _write(project, recorded.settled(read.found, project, console), console)


def _refuse_with_results(context: click.Context) -> None:
    """Raises UsageError for an option that has no meaning where results are read."""
    for parameter in context.command.params:
        given = context.get_parameter_source(parameter.name or "")
        if parameter.name in ON_DEVICES and given is click.core.ParameterSource.COMMANDLINE:
            raise click.UsageError(f"{parameter.opts[0]} is for devices that are connected: leave it out with --from")


def _explain(
    found: "Sequence[FoundSettings]", bounds: "SearchBounds", ends: Ends, console: "Console", *, advice: str
) -> None:
    """Prints the searches, writes their page, and adds them to a release; `advice` is for those that had no time."""
    from packager.workflows import tune_results

    if ends.as_json:
        print_json({"results": [_document(each) for each in found]})
    else:
        for each in found:
            _show(each, advice, console)
    if ends.report:
        tune_results.write_page(ends.report, found, bounds)
        console.say(f"report: {ends.report}")
    if ends.merge:
        tune_results.merge(ends.merge, found, bounds)
        console.say(f"merged into {ends.merge}")


def _write(project: Path, found: "Sequence[FoundSettings]", console: "Console") -> None:
    from packager.workflows import tune_results

    changed = tune_results.write(project, found, console)
    console.say(f"{project}: " + ("settings were written; build again" if changed else "nothing to change"))


def _show(found: "FoundSettings", advice: str, console: "Console") -> None:
    from packager.measuring.tuning import words

    outcome = found.outcome
    rows = [words.short(words.cells(trial, outcome)) for trial in outcome.trials]
    console.table(f"{found.model} on {found.device.name}", words.short(words.COLUMNS), rows)
    if not outcome.is_complete:
        console.caution(f"the time was over before the end: {advice}")
    console.say(words.verdict(outcome))


def _document(found: "FoundSettings") -> dict[str, object]:
    from packager.measuring.bench.statistics import all_of, quantile
    from packager.measuring.tuning import words

    outcome = found.outcome
    return {
        "device": found.device.serial,
        "soc": found.device.soc,
        "model": found.model,
        "is-complete": outcome.is_complete,
        "today": outcome.today.candidate.name,
        "best": outcome.best.candidate.name,
        "package": outcome.best.candidate.package,
        "ratio": outcome.ratio.value if outcome.ratio else None,
        "trials": [
            {
                "settings": trial.candidate.name,
                "package": trial.candidate.package,
                "p50-ms": trial.median_ns / 1e6 if trial.rounds else None,
                "p90-ms": quantile(all_of(trial.rounds), 0.9) / 1e6 if trial.rounds else None,
                "rounds": [list(times) for times in trial.rounds],
                "error": trial.error,
                "error-share": trial.error_share,
                "result": words.result(trial, outcome),
            }
            for trial in outcome.trials
        ],
    }
