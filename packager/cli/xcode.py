"""`mobpack xcode`: lets Xcode rebuild the Swift package when its models change."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from packager.cli.options import MODEL, config_option, json_option, print_json

if TYPE_CHECKING:
    from pbxproj import XcodeProject

    from packager.workflows.xcode import SwiftPackage, XcodeFolders


@click.command(short_help="Let Xcode rebuild the Swift package.")
@config_option
@click.option("--dist", type=MODEL, help="Output folder of `mobpack build`; default: dist beside mobpack.toml.")
@click.option(
    "--out", "-o", type=MODEL, help="Folder for the script and its file lists; default: that of mobpack.toml."
)
@click.option(
    "--project", type=MODEL, metavar="APP.xcodeproj", help="Also add the script and the package to this project."
)
@click.option("--app-target", default="", metavar="NAME", help="App target in the project; default: the only one.")
@click.option("--plugin", type=MODEL, metavar="FOLDER", help="Write a SwiftPM build plugin instead, as a package.")
@click.option("--source-root", type=MODEL, help="Xcode's SRCROOT; default: the project's folder, or --out.")
@json_option
def xcode(
    config_path: Path,
    dist: Path | None,
    out: Path | None,
    project: Path | None,
    app_target: str,
    plugin: Path | None,
    source_root: Path | None,
    as_json: bool,
) -> None:
    """Write mobpack-build.sh and the lists of its inputs and outputs, for a Run Script phase of Xcode.

    The Swift package must exist: mobpack build --target ios
    """
    from packager import config as configuration
    from packager.core.console import Console
    from packager.workflows.inputs import inputs_of
    from packager.workflows.xcode import (
        XcodeFolders,
        find_package,
        integration,
        write,
        write_plugin,
        write_project,
    )

    if plugin and project:
        raise click.UsageError("--plugin and --project cannot be used together")
    config = configuration.load(config_path, targets=("ios",))
    beside = config_path.parent
    out = out or beside
    layout = XcodeFolders(
        config=config_path,
        dist=dist or beside / "dist",
        out=out,
        source_root=source_root or (project.parent if project else out),
    )
    package = find_package(layout.dist, config.package.name, config_path)
    inputs = inputs_of(config, ("ios",), config_path).files
    edited = wired(project, app_target, layout, package) if project else None  # may raise: before anything is written
    if plugin:
        write_plugin(plugin, package, config_path, inputs)
        written: tuple[Path, ...] = (plugin,)
    else:
        written = write(integration(layout, package, inputs), out)
    if project and write_project(edited, project):
        written = (*written, project / "project.pbxproj")
    if as_json:
        print_json({"written": [str(path) for path in written], "product": package.product})
    else:
        for line in [f"wrote {path}" for path in written] or ["everything is up to date"]:
            Console().say(line)


def wired(path: Path, target: str, layout: "XcodeFolders", package: "SwiftPackage") -> "XcodeProject":
    """The Xcode project with the script and the package added, not yet saved."""
    from packager.workflows.xcode import app_target, read_project, wire, wiring

    project = read_project(path)
    wire(project, app_target(project, target), wiring(layout, package))
    return project
