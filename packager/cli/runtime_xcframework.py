"""`mobpack runtime xcframework`: repackages a static ONNX Runtime for iOS so that the App Store accepts it."""

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from packager.cli.options import MODEL, json_option, print_json

if TYPE_CHECKING:
    from packager.core.console import Console
    from packager.targets.xcframework.finding import Finding
    from packager.targets.xcframework.repackage import Library, Repackaged


@click.command(short_help="Repackage a static ONNX Runtime for the App Store.")
@click.argument("archive", required=False, type=MODEL)
@click.option(
    "--out", "-o", type=MODEL, default=Path("onnxruntime.xcframework"), show_default=True, help="Folder to write."
)
@click.option("--name", default="onnxruntime", show_default=True, help="Name of the library: libNAME.a.")
@click.option(
    "--platform",
    "platforms",
    multiple=True,
    metavar="NAME",
    help="Platform to keep: ios, ios-simulator ... Repeatable; default: all.",
)
@json_option
def xcframework(archive: Path | None, out: Path, name: str, platforms: tuple[str, ...], as_json: bool) -> None:
    """Turn the static frameworks of ARCHIVE (an .xcframework, or a .zip of one) into plain static libraries.

    Xcode embeds frameworks in apps, even static ones, and the App Store rejects those; libraries are only linked.
    Without ARCHIVE, the published ONNX Runtime is downloaded. Use the result in mobpack.toml: [runtime] ios = "FOLDER".
    """
    from packager.core.console import Console
    from packager.core.errors import ConfigError
    from packager.targets.xcframework import folder
    from packager.targets.xcframework.lint import lint
    from packager.targets.xcframework.repackage import library_format

    if out.suffix != folder.SUFFIX:
        raise ConfigError(f"--out {out}: the name must end in {folder.SUFFIX}", hint=f"--out {out}{folder.SUFFIX}")
    console = Console(quiet=as_json)
    source = archive or _fetched(console)
    with console.step(f"{out} from {archive or 'the pinned archive'}"), folder.opened(source) as root:
        made = library_format(root, out, name=name, platforms=platforms)
    remaining = lint(out).errors
    config = _write_config(out, console) if _is_published(source) else None
    if as_json:
        print_json({**_document(made, remaining), "config": str(config) if config else None})
        return
    console.table("", ["slice", "library", "architectures", "size", "change"], _rows(made))
    for each in remaining:
        console.warn(f"{each.slice}: {each.what}; {each.remedy}")
    console.say(f'next: [runtime] ios = "{out}" in mobpack.toml{_beside(out)}')


def _fetched(console: "Console") -> Path:
    from packager.files.processes import downloads
    from packager.targets.xcframework import pinned

    title = f"fetch {downloads.pins()['ios']['onnxruntime']}"
    with console.progress(title) if not console.quiet else nullcontext() as shown:
        return pinned.archive(lambda done, total: shown(done >> 20, total >> 20) if shown else None)


def _is_published(source: Path) -> bool:
    """Whether it is ONNX Runtime's published archive, downloaded by mobpack or by hand."""
    from packager.files.hashes import sha256_of
    from packager.files.processes import downloads

    return source.is_file() and sha256_of(source) == downloads.pins()["ios"]["checksum"]


def _write_config(out: Path, console: "Console") -> Path:
    """Writes the operator configuration that `[runtime]` looks for beside the library: the published runtime has all
    operators."""
    from packager.files.atomic import atomic_file
    from packager.runtimes.operators import EVERYTHING

    path, text = out.with_suffix(".config"), f"{EVERYTHING}\n".encode()
    if not path.exists():
        with atomic_file(path) as file:
            file.write(text)
    elif path.read_bytes() != text:
        console.warn(f"{path} belongs to another runtime and was kept; this runtime has all operators ({EVERYTHING})")
    return path


def _beside(out: Path) -> str:
    """Mentions the operator configuration if a build would still miss it."""
    config = out.with_suffix(".config")
    return (
        ""
        if config.is_file()
        else f"; also save the operator configuration that the runtime was built with as {config}"
    )


def _rows(made: "Repackaged") -> list[list[str]]:
    from packager.core.console import size

    rows = [
        [each.identifier, str(each.path), ", ".join(each.architectures), size(each.size_bytes), _change(each)]
        for each in made.libraries
    ]
    return rows + [[name, "-", "-", "-", "omitted"] for name in made.left_out]


def _change(each: "Library") -> str:
    if each.linkage == "dynamic":
        return "none: dynamic, apps embed it"
    moved = f"was {each.was}" if each.path != each.was else ""
    thinned = "single-architecture fat file thinned" if each.is_thinned else ""
    return ", ".join(filter(None, [moved, thinned, "headers removed"]))


def _document(made: "Repackaged", remaining: "tuple[Finding, ...]") -> dict[str, Any]:
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
        "errors": [{"code": each.code, "slice": each.slice, "what": each.what} for each in remaining],
    }
