"""`mobpack diff`: what has changed between two releases, and whether the version number says so."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from packager.cli.options import MODEL, json_option, print_json
from packager.core.errors import GateError

if TYPE_CHECKING:
    from packager.distribution.differences import Comparison

PAGE = click.Path(path_type=Path, dir_okay=False)


@click.command(short_help="Compare two releases, for the number of the next version.")
@click.argument("old", type=MODEL)
@click.argument("new", type=MODEL)
@click.option("--page", type=PAGE, metavar="FILE", help="Write the comparison as an HTML page, too.")
@click.option(
    "--fail-on-breaking",
    is_flag=True,
    help="Fail with exit code 6 when a change is major, or the version number is raised too little.",
)
@click.option(
    "--fail-on-version",
    is_flag=True,
    help="Fail with exit code 6 when the version number is raised too little for what has changed.",
)
@json_option
def diff(old: Path, new: Path, page: Path | None, fail_on_breaking: bool, fail_on_version: bool, as_json: bool) -> None:
    """Compare the releases OLD and NEW, and say by semantic versioning how much has changed for apps.

    Both are dist folders of `mobpack build`, or packages: an .aar, an npm .tgz, a zipped Swift or pub package, or the
    folder of a version in a Maven repository.
    """
    from packager.core.to_json import plain
    from packager.distribution.differences import compare, read, write_page

    found = compare(read(old), read(new))
    if page:
        write_page(page, found, str(old), str(new))
    document = plain(found)
    option = "--fail-on-breaking" if fail_on_breaking else "--fail-on-version"
    is_breaking = fail_on_breaking and found.verdict == "major"
    if is_breaking or ((fail_on_breaking or fail_on_version) and not found.bump.is_enough):
        if not as_json:
            _print(found)
        raise _refusal(found, document, option, is_breaking=is_breaking)
    if as_json:
        print_json(document)
        return
    _print(found)


def _refusal(found: "Comparison", document: dict[str, object], option: str, *, is_breaking: bool) -> GateError:
    if is_breaking:
        first = f"; first: {found.changes[0].where}: {found.changes[0].change}" if found.changes else ""
        message = f"{option}: the new release is a major one{first}"
        error = GateError(message, hint="undo the changes, or release it as a major version with --fail-on-version")
    else:
        error = GateError(f"{option}: {found.bump.sentence}", hint="raise version in [package]")
    error.document = document
    return error


def _print(found: "Comparison") -> None:
    from packager.core.console import Console

    console = Console()
    rows = [[each.level.value, each.where, each.change, each.reason] for each in found.changes]
    if rows:
        console.table("", ["level", "where", "change", "reason"], rows)
    for each in found.not_compared:
        console.result(f"not compared: {each}")
    if found.changes:
        console.result(f"{found.verdict.value}: {found.bump.sentence}")
    else:
        console.result(f"nothing has changed: {found.bump.sentence}")
