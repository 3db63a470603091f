"""`mobpack publish`: sends a release to registries, completely or so that the next call completes it."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from packager.cli.options import MODEL, json_option, print_json

if TYPE_CHECKING:
    from packager.distribution.publishing import RegistryOutcome


@click.command(short_help="Send a release to Maven, npm, Python or Swift registries.")
@click.argument("release", type=MODEL, default=Path("dist"))
@click.option(
    "--to",
    "named",
    multiple=True,
    required=True,
    metavar="REGISTRY",
    help="maven-central, maven=URL, npm, npm=URL, pypi=URL, swift-registry=URL or swift-git=FOLDER; "
    "maven=FOLDER rehearses. Repeatable.",
)
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="REGISTRY.KEY=VALUE",
    help="A setting of a registry, such as npm.access=public. Repeatable.",
)
@click.option("--dry-run", "is_dry", is_flag=True, help="Show every request and send none.")
@json_option
def publish(release: Path, named: tuple[str, ...], settings: tuple[str, ...], is_dry: bool, as_json: bool) -> None:
    """Send the packages in RELEASE (default: dist) to registries.

    What is there with the same bytes is left alone; other bytes are refused (exit code 6) before anything is sent.
    After a failure, the same command continues. Credentials come from environment variables: see docs/publish.md.
    """
    from packager.core.console import Console
    from packager.distribution import publishing

    console = Console()
    registries = publishing.registries(named, settings)
    outcomes = publishing.publish(release, registries, publishing.PublishingSession(say=console.say), is_dry=is_dry)
    if as_json:
        print_json({"dry-run": is_dry, "requests": publishing.document(outcomes)})
        return
    _print(outcomes)
    for each in publishing.remarks(outcomes):
        console.caution(each)


def _print(outcomes: "Sequence[RegistryOutcome]") -> None:
    from packager.core.console import Console, size

    console = Console()
    rows = [
        [
            each.result,
            each.request.method,
            each.request.address,
            "" if each.request.size_bytes is None else size(each.request.size_bytes),
            each.request.sha256[:16],
            each.request.note,
        ]
        for each in outcomes
    ]
    console.table("", ["", "method", "address", "size", "sha256", ""], rows)
    for words in dict.fromkeys(each.words for each in outcomes if each.words):
        console.result(words)
    counts = [f"{sum(each.result == name for each in outcomes)} {name}" for name in _results(outcomes)]
    console.result(f"{len(outcomes)} requests: {', '.join(counts)}")


def _results(outcomes: "Sequence[RegistryOutcome]") -> list[str]:
    return sorted({each.result for each in outcomes})
