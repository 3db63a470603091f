"""`mobpack extract`: the model files of built packages, for a server that apps download them from."""

from pathlib import Path

import click

from packager.cli.options import MODEL, json_option, print_json


@click.command(short_help="Write the model files of packages to a folder for a server.")
@click.argument("release", type=MODEL, default=Path("dist"))
@click.option("--to", "folder", type=MODEL, required=True, help="Folder to write to; files of earlier releases stay.")
@json_option
def extract(release: Path, folder: Path, as_json: bool) -> None:
    """Write the model files of the packages in RELEASE (default: dist) to a folder, for apps that download models.

    Each file is named by its SHA-256, so that all versions and platforms share one folder and a file never changes.
    Serve the folder over https and pass its address to `load`. models.json lists the packages that need each file.
    """
    from packager.core.console import Console, size
    from packager.distribution.release.extract import extract as write

    found = write(release, folder)
    files = {each.sha256: each.size_bytes for each in found}
    if as_json:
        print_json(
            {
                "folder": str(folder),
                "files": [
                    {
                        "target": each.target,
                        "file": each.file,
                        "sha256": each.sha256,
                        "size-bytes": each.size_bytes,
                    }
                    for each in found
                ],
            }
        )
        return
    console = Console()
    rows = [[each.target, each.file, size(each.size_bytes), each.sha256[:16]] for each in found]
    console.table("", ["target", "file", "size", "sha256"], rows)
    console.result(f"{len(files)} files, {size(sum(files.values()))}, in {folder}")
