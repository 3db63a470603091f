"""`mobpack import`: makes an ONNX model of one of another framework and compares the two."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from packager.cli.options import MODEL, json_option, print_json
from packager.cli.project_options import into
from packager.core.errors import ConfigError

if TYPE_CHECKING:
    from packager.core.console import Console
    from packager.workflows.importing import ImportResult


@dataclass(frozen=True, kw_only=True)
class ImportOptions:
    """Options of `mobpack import`."""

    source: str
    output: Path
    importer: str
    samples: Path | None
    sample_count: int | None
    sizes: tuple[str, ...]
    rtol: float | None
    atol: float | None
    allow_code: bool
    keep_layout: bool
    keep_samples: Path | None
    force: bool
    strict: bool
    update: bool
    as_json: bool


@click.command("import", short_help="Import a model of another framework and compare the two.")
@click.argument("source")
@click.option("--output", "-o", type=MODEL, default=Path("model.onnx"), show_default=True, help="The file to write.")
@click.option("--from", "importer", metavar="NAME", default="", help="The importer; default: the one for the source.")
@click.option(
    "--samples", type=MODEL, metavar="PATH", help="Inputs to compare on: an .npz by input name, or a folder of them."
)
@click.option("--count", "sample_count", type=int, help="Number of random inputs without --samples; default: 4.")
@click.option(
    "--size",
    "sizes",
    multiple=True,
    metavar="NAME=SIZE",
    help="Size of a dynamic dimension in random inputs. Repeatable.",
)
@click.option("--rtol", type=float, help="Allowed error relative to the output's largest number; default: 1e-3.")
@click.option("--atol", type=float, help="Allowed absolute error, added to --rtol; default: 1e-5.")
@click.option("--allow-code", is_flag=True, help="Load models whose files can run code, such as pickles.")
@click.option("--keep-layout", is_flag=True, help="Keep channels last, even where it costs a Transpose.")
@click.option(
    "--keep-samples", type=MODEL, metavar="DIR", help="Keep inputs and the framework's outputs for `mobpack check`."
)
@click.option("--force", is_flag=True, help="Write the model even if its outputs differ from the framework's.")
@click.option("--update", is_flag=True, help="Fetch the newest revision from the hub, not the one in OUTPUT.lock.")
@click.option("--strict", is_flag=True, help="Treat warnings as errors: write nothing if there is one.")
@json_option
@into(ImportOptions)
def import_model(options: ImportOptions) -> None:
    """Write an ONNX model from SOURCE, a model that another framework has saved.

    For example: mobpack import model.keras -o model.onnx

    SOURCE may be a model on Hugging Face's hub, hf:owner/name[@REVISION][/FILE], or in the ONNX Model Zoo there,
    zoo:NAME. OUTPUT.lock then has its commit and the sha256 of its files.
    """
    from packager.core.console import Console
    from packager.files.store import Store
    from packager.files.user_cache import cache_folder
    from packager.workflows.importing import ImportRequest, run

    console = Console(quiet=options.as_json)
    given = {"sample_count": options.sample_count, "rtol": options.rtol, "atol": options.atol}
    request = ImportRequest(
        source=options.source,
        folder=Path.cwd(),
        output=options.output,
        importer=options.importer,
        samples=options.samples,
        sizes=parse_sizes(options.sizes),
        is_code_allowed=options.allow_code,
        is_layout_kept=options.keep_layout,
        keep=options.keep_samples,
        is_forced=options.force,
        is_strict=options.strict,
        is_updated=options.update,
        **{key: value for key, value in given.items() if value is not None},  # type: ignore[arg-type]
    )
    result = run(request, Store(cache_folder() / "store"), console)
    if options.as_json:
        from packager.workflows.importing.steps import as_json as json_of

        print_json({**json_of(result), "warnings": console.warnings})
    else:
        _show(result, console)


def parse_sizes(texts: tuple[str, ...]) -> dict[str, int]:
    """Parses `height=224`. Raises ConfigError for anything else."""
    found = {}
    for text in texts:
        name, _, size = text.rpartition("=")
        if not name or not re.fullmatch(r"[1-9]\d{0,8}", size):
            raise ConfigError(f"--size {text}: expected NAME=SIZE", hint="for example: --size height=224")
        found[name] = int(size)
    return found


def _show(result: "ImportResult", console: "Console") -> None:
    from packager.core.console import size

    console.table(
        f"opset {result.opset}, {size(result.size_bytes)}, written by {result.converter}",
        ["", "name", "type", "shape"],
        [
            [kind, port.name, port.element, str(list(port.dimensions)).replace("'", "")]
            for kind, ports in (("input", result.inputs), ("output", result.outputs))
            for port in ports
        ],
    )
    console.table(
        f"compared with {result.framework} on {len(result.sizes)} samples",
        ["output", "largest error", "of the allowed error"],
        [[each.name, f"{each.max_abs_error:.2g}", each.percent] for each in result.errors],
    )
    for file in result.files:
        console.result(str(file))
    console.say(f"next: mobpack build {result.files[0]} --target android")
