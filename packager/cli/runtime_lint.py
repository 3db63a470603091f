"""`mobpack runtime lint`: finds what Xcode or the App Store would reject in an .xcframework."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from packager.cli.options import MODEL, json_option, print_json

if TYPE_CHECKING:
    from packager.core.console import Console
    from packager.targets.xcframework.lint import Inspected


@click.command(short_help="Check an .xcframework for what the App Store rejects.")
@click.argument("path", type=MODEL)
@json_option
def lint(path: Path, as_json: bool) -> None:
    """Check the .xcframework PATH (a folder or a .zip) before an app uses it.

    Exits with 6 if Xcode or the App Store would reject it. Needs neither a Mac nor other tools.
    """
    from packager.core.console import Console
    from packager.core.errors import GateError
    from packager.targets.xcframework import folder
    from packager.targets.xcframework import lint as linter

    console = Console(quiet=as_json)
    with folder.opened(path) as root:
        found = linter.lint(root)
        inspected = document(found)
    if not as_json:
        show(found, console)
    if found.errors:
        error = GateError(
            f"{found.root.name}: {counted(found)}; first error: {found.errors[0].slice or 'as a whole'}: "
            f"{found.errors[0].what}",
            hint=found.errors[0].remedy,
        )
        error.document = inspected
        raise error
    if as_json:
        print_json(inspected)


def show(found: "Inspected", console: "Console") -> None:
    """Prints the slices, then the findings, most severe first."""
    console.table(
        "",
        ["slice", "architectures", "kind", "built for", "needs privacy reasons for"],
        [list(row.values()) for row in slice_rows(found)],
    )
    rows = [[each.severity, each.slice, each.what, each.remedy] for each in found.findings]
    if rows:
        console.table("", ["", "slice", "problem", "remedy"], rows)
    console.result(f"{found.root.name}: {counted(found)}")


def slice_rows(found: "Inspected") -> list[dict[str, str]]:
    """Contents of each slice, as text."""
    from packager.targets.xcframework.manifest import accesses

    rows = []
    for each in found.slices:
        pieces = found.code[each.identifier]
        builds = sorted({build for piece in pieces for build in piece.builds})
        rows.append(
            {
                "slice": each.identifier,
                "processors": ", ".join(piece.architecture for piece in pieces),
                "kind": ", ".join(sorted({piece.kind for piece in pieces})),
                "built-for": ", ".join(" ".join(filter(None, [b.platform, b.variant, b.minimum_os])) for b in builds),
                "calls-for": ", ".join(access.category for access in accesses(pieces)),
            }
        )
    return rows


def counted(found: "Inspected") -> str:
    """`2 errors, 1 warning, 3 notes`."""
    from packager.targets.xcframework.finding import ORDER

    counts = {name: sum(each.severity == name for each in found.findings) for name in ORDER}
    return ", ".join(f"{count} {name}{'' if count == 1 else 's'}" for name, count in counts.items())


def document(found: "Inspected") -> dict[str, object]:
    return {
        "name": found.root.name,
        "slices": slice_rows(found),
        "findings": [
            {
                "severity": each.severity,
                "code": each.code,
                "slice": each.slice,
                "what": each.what,
                "remedy": each.remedy,
            }
            for each in found.findings
        ],
    }
