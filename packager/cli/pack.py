"""`mobpack pack`: the models of a release as a pack that an app's store delivers."""

from pathlib import Path

import click

from packager.cli.options import MODEL, json_option, print_json

KINDS = ("ai-pack", "asset-pack", "background-assets", "on-demand-resources")
DELIVERIES = ("install-time", "fast-follow", "on-demand")


@click.command(short_help="Make a pack that an app's store delivers.")
@click.argument("release", type=MODEL, default=Path("dist"))
@click.option(
    "--kind", type=click.Choice(KINDS), required=True, help="Kind of pack: Play's AI or asset packs, or Apple's."
)
@click.option("--to", "folder", type=MODEL, required=True, help="Folder to write to; a pack in it is replaced.")
@click.option(
    "--delivery",
    type=click.Choice(DELIVERIES),
    default="on-demand",
    show_default=True,
    help="When the store delivers the pack.",
)
@click.option("--name", default="", metavar="NAME", help="Name of the pack; default: that of the package.")
@click.option(
    "--app",
    default="",
    metavar="ID",
    help="Application id, for a module that bundletool takes; the app's group with background-assets.",
)
@click.option(
    "--group",
    "groups",
    multiple=True,
    metavar="NAME:KEY=VALUE,...",
    help="Devices that get files of their own: soc=MAKER/MODEL, ram-min=8GB, ram-max=, provider=. Repeatable.",
)
@click.option(
    "--targeting",
    type=click.Choice(("groups", "tiers")),
    default="groups",
    show_default=True,
    help="How Play tells groups apart: device groups, or device tiers.",
)
@json_option
def pack(
    release: Path,
    kind: str,
    folder: Path,
    delivery: str,
    name: str,
    app: str,
    groups: tuple[str, ...],
    targeting: str,
    as_json: bool,
) -> None:
    """Write the models of RELEASE (default: dist) as a pack, which the app's store delivers with the app or after it.

    Apps open it with Source.pack (Kotlin) and Source.assetPack (Swift). Files that were compiled for a chip go to
    devices with that chip alone; --group says which devices get the files of other providers.
    """
    from packager.core.console import Console, size
    from packager.distribution.packs import packing, play

    request = packing.PackRequest(kind=kind, delivery=delivery, name=name, app=app, groups=groups, targeting=targeting)
    made = packing.pack(release, folder, request)
    warning = ""
    if made.most_bytes > packing.MOST_BYTES and kind in play.KINDS:
        warning = f"a device may get {size(made.most_bytes)}; Play takes packs up to 1.5 GB, compressed"
    if as_json:
        print_json(
            {
                "folder": str(folder),
                "name": made.name,
                "written": list(made.written),
                "groups": [group.name for group in made.groups],
                "files": [
                    {"group": each.group, "sha256": each.file.sha256, "size-bytes": each.file.size_bytes}
                    for each in made.files
                ],
                "warnings": [warning] if warning else [],
            }
        )
        return
    console = Console()
    rows = [
        [each.group or "all devices", ", ".join(each.file.names), size(each.file.size_bytes), each.file.sha256[:16]]
        for each in made.files
    ]
    console.table("", ["for", "file", "size", "sha256"], rows)
    if warning:
        console.warn(warning)
    for path in made.written:
        console.result(f"wrote {folder / path}")
