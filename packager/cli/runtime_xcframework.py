"""`mobpack runtime xcframework`: a static ONNX Runtime for iOS in a form that the App Store takes."""

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from packager.cli.options import MODEL, json_option, print_json

if TYPE_CHECKING:
    from packager.core.console import Console
    from packager.xcframework.finding import Finding
    from packager.xcframework.repackage import Library, Repackaged


@click.command(short_help="Have one for iOS that the App Store takes.")
@click.argument("archive", required=False, type=MODEL)
@click.option(
    "--out", "-o", type=MODEL, default=Path("onnxruntime.xcframework"), show_default=True, help="Folder to write."
)
@click.option("--name", default="onnxruntime", show_default=True, help="Of the library: libNAME.a.")
@click.option(
    "--platform",
    "platforms",
    multiple=True,
    metavar="NAME",
    help="Keep this one: ios, ios-simulator ... Repeatable; default: all.",
)
@json_option
def xcframework(archive: Path | None, out: Path, name: str, platforms: tuple[str, ...], as_json: bool) -> None:
    """Turn the static frameworks of ARCHIVE, an .xcframework or a .zip with one, into plain libraries.

    Xcode copies frameworks into apps, static ones as well, and the App Store refuses those; libraries it only links.
    Without ARCHIVE, ONNX Runtime's own is fetched. Name the result in mobpack.toml: [runtime] ios = "FOLDER".
    """
    from packager.core.console import Console
    from packager.core.errors import ConfigError
    from packager.xcframework import folder
    from packager.xcframework.lint import lint
    from packager.xcframework.repackage import library_format

    if out.suffix != folder.SUFFIX:
        raise ConfigError(f"--out {out}: the name of an {folder.SUFFIX} ends so", hint=f"--out {out}{folder.SUFFIX}")
    console = Console(quiet=as_json)
    source = archive or _fetched(console)
    with console.step(f"{out} from {archive or 'the pinned archive'}"), folder.opened(source) as root:
        made = library_format(root, out, name=name, platforms=platforms)
    left = lint(out).errors
    config = _write_config(out, console) if _is_published(source) else None
    if as_json:
        print_json({**_document(made, left), "config": str(config) if config else None})
        return
    console.table("", ["slice", "library", "processors", "size", "changed"], _rows(made))
    for each in left:
        console.warn(f"{each.slice}: {each.what}; {each.remedy}")
    console.say(f'next: [runtime] ios = "{out}" in mobpack.toml{_beside(out)}')


def _fetched(console: "Console") -> Path:
    from packager.processes import downloads
    from packager.xcframework import pinned

    title = f"fetch {downloads.pins()['ios']['onnxruntime']}"
    with console.progress(title) if not console.quiet else nullcontext() as shown:
        return pinned.archive(lambda done, total: shown(done >> 20, total >> 20) if shown else None)


def _is_published(source: Path) -> bool:
    """Whether it is ONNX Runtime's own archive, fetched or downloaded by hand."""
    from packager.files.hashes import sha256_of
    from packager.processes import downloads

    return source.is_file() and sha256_of(source) == downloads.pins()["ios"]["checksum"]


def _write_config(out: Path, console: "Console") -> Path:
    """The operator configuration that `[runtime]` looks for beside it: the published runtime has all operators."""
    from packager.files.atomic import atomic_file
    from packager.runtimes.operators import EVERYTHING

    path, text = out.with_suffix(".config"), f"{EVERYTHING}\n".encode()
    if not path.exists():
        with atomic_file(path) as file:
            file.write(text)
    elif path.read_bytes() != text:
        console.warn(f"{path} was there and is of another runtime: this one has all operators ({EVERYTHING})")
    return path


def _beside(out: Path) -> str:
    """What a build still needs: the operator configuration."""
    config = out.with_suffix(".config")
    return "" if config.is_file() else f", and the operator configuration it was built with as {config}"


def _rows(made: "Repackaged") -> list[list[str]]:
    from packager.core.console import size

    rows = [
        [each.identifier, str(each.path), ", ".join(each.architectures), size(each.size_bytes), _change(each)]
        for each in made.libraries
    ]
    return rows + [[name, "-", "-", "-", "left out"] for name in made.left_out]


def _change(each: "Library") -> str:
    if each.linkage == "dynamic":
        return "nothing: apps carry it"
    moved = f"was {each.was}" if each.path != each.was else ""
    thinned = "fat file of one processor made plain" if each.is_thinned else ""
    return ", ".join(filter(None, [moved, thinned, "no headers"]))


def _document(made: "Repackaged", left: "tuple[Finding, ...]") -> dict[str, Any]:
    return {
        "path": str(made.root),
        "slices": [
            {
                "identifier": each.identifier,
                "library": str(each.path),
                "was": str(each.was),
                "linkage": each.linkage,
                "architectures": list(each.architectures),
                "is-thinned": each.is_thinned,
                "size-bytes": each.size_bytes,
            }
            for each in made.libraries
        ],
        "left-out": list(made.left_out),
        "errors": [{"code": each.code, "slice": each.slice, "what": each.what} for each in left],
    }
