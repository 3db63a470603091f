"""`mobpack export`: exports a PyTorch module to ONNX and compares it with PyTorch's outputs."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from packager.cli.options import MODEL, json_option, print_json
from packager.cli.project_options import into

if TYPE_CHECKING:
    from packager.core.console import Console
    from packager.workflows.export import ExportResult


@dataclass(frozen=True, kw_only=True)
class ExportOptions:
    """Options of `mobpack export`."""

    factory: str
    output: Path
    dynamic: tuple[str, ...]
    opset: int | None
    samples: int | None
    rtol: float | None
    atol: float | None
    input_names: str | None
    output_names: str | None
    keep_samples: Path | None
    force: bool
    strict: bool
    as_json: bool


@click.command(short_help="Export a PyTorch module to ONNX and compare the two.")
@click.argument("factory", metavar="MODULE:FACTORY")
@click.option("--output", "-o", type=MODEL, default=Path("model.onnx"), show_default=True, help="The file to write.")
@click.option(
    "--dynamic",
    multiple=True,
    metavar="AXIS",
    help="A dynamic dimension: INPUT.AXIS=NAME (image.2=height), or NAME for axis 0 of every input (batch). "
    "Repeatable.",
)
@click.option("--opset", type=int, help="ONNX opset of the graph; default: 18.")
@click.option("--samples", type=int, help="Number of inputs to compare on, including the example; default: 4.")
@click.option("--rtol", type=float, help="Allowed error relative to the output's largest number; default: 1e-3.")
@click.option("--atol", type=float, help="Allowed absolute error, added to --rtol; default: 1e-5.")
@click.option("--input-names", metavar="A,B", help="Names of the inputs; default: the parameters of forward.")
@click.option(
    "--output-names", metavar="A,B", help="Names of the outputs; default: the keys or fields that forward returns."
)
@click.option(
    "--keep-samples", type=MODEL, metavar="DIR", help="Keep the inputs and PyTorch's outputs for `mobpack check`."
)
@click.option("--force", is_flag=True, help="Write the model even if its outputs differ from PyTorch's.")
@click.option("--strict", is_flag=True, help="Treat warnings as errors: write nothing if there is one.")
@json_option
@into(ExportOptions)
def export(options: ExportOptions) -> None:
    """Write an ONNX model from a PyTorch module. MODULE:FACTORY is a function that returns (module, example inputs);
    MODULE is imported from the current folder.

    For example: mobpack export nets:classifier -o classifier.onnx --dynamic batch
    """
    from packager.core.console import Console
    from packager.files.store import Store
    from packager.files.user_cache import cache_folder
    from packager.workflows.export import ExportRequest, run
    from packager.workflows.export.request import parse_dynamic

    console = Console(quiet=options.as_json)
    given = {
        "opset": options.opset,
        "sample_count": options.samples,
        "rtol": options.rtol,
        "atol": options.atol,
    }
    request = ExportRequest(
        factory=options.factory,
        code_folder=Path.cwd(),
        output=options.output,
        dynamic=parse_dynamic(options.dynamic),
        input_names=_names(options.input_names),
        output_names=_names(options.output_names),
        keep=options.keep_samples,
        is_forced=options.force,
        is_strict=options.strict,
        **{key: value for key, value in given.items() if value is not None},  # type: ignore[arg-type]
    )
    result = run(request, Store(cache_folder() / "store"), console)
    if options.as_json:
        from packager.workflows.export.steps import as_json as json_of

        print_json({**json_of(result), "warnings": console.warnings})
    else:
        _show(result, console)


def _names(text: str | None) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",")) if text else ()


def _show(result: "ExportResult", console: "Console") -> None:
    from packager.core.console import size

    console.table(
        f"opset {result.opset}, {size(result.size_bytes)}",
        ["", "name", "type", "shape"],
        [
            [kind, port.name, port.element, str(list(port.dimensions)).replace("'", "")]
            for kind, ports in (("input", result.inputs), ("output", result.outputs))
            for port in ports
        ],
    )
    console.table(
        f"compared with PyTorch {result.torch} on {len(result.sizes)} samples",
        ["output", "largest error", "of the allowed error"],
        [[each.name, f"{each.max_abs_error:.2g}", each.percent] for each in result.errors],
    )
    for file in result.files:
        console.result(str(file))
    console.say(f"next: mobpack build {result.files[0]} --target android")
