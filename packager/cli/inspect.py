"""`mobpack inspect`: shows a model and whatever prevents it from shipping."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from packager.cli.options import MODEL, json_option, parse_shapes, print_json, shape_option

if TYPE_CHECKING:
    from packager.core.values import Model, TensorSpec


@click.command(short_help="Show a model and what prevents it from shipping.")
@click.argument("model", type=MODEL)
@shape_option
@json_option
def inspect(model: Path, shapes: tuple[str, ...], as_json: bool) -> None:
    """Show MODEL.onnx: signature, opsets, operators, sizes, and problems that prevent it from shipping."""
    from packager import models
    from packager.core import names
    from packager.core.console import Console

    console = Console(quiet=as_json)
    loaded = models.load(model, names.model_name(model), fixed=parse_shapes(shapes), announce=console.expect_long)
    if as_json:
        print_json(document(loaded))
    else:
        show(loaded)


def document(model: "Model") -> dict[str, object]:
    from packager import models
    from packager.distribution.release.manifest import tensor_entry

    return {
        "file": str(model.path),
        "size-bytes": model.size_bytes,
        "parameters": model.parameter_count,
        "data-files": [file.name for file in model.data_files],
        "ir-version": model.ir_version,
        "opsets": dict(sorted(model.opsets.items())),
        "inputs": [tensor_entry(spec) for spec in model.signature.inputs],
        "outputs": [tensor_entry(spec) for spec in model.signature.outputs],
        "operators": dict(model.operators),
        "notes": list(model.notes),
        "blockers": list(models.blockers(model)),
    }


def show(model: "Model") -> None:
    from packager import models
    from packager.core.console import Console, size

    console = Console()
    opsets = ", ".join(f"{domain or 'ai.onnx'} {number}" for domain, number in sorted(model.opsets.items()))
    console.result(
        f"{model.path}: {size(model.size_bytes)}, {model.parameter_count:,} parameters, "
        f"IR version {model.ir_version}, opset {opsets}"
    )
    rows = [["input", *describe(spec)] for spec in model.signature.inputs] + [
        ["output", *describe(spec)] for spec in model.signature.outputs
    ]
    console.table("", ["", "name", "in generated code", "element", "shape"], rows)
    counted = sorted(model.operators.items(), key=lambda item: (-item[1], item[0]))
    console.result(f"{sum(model.operators.values())} nodes: " + ", ".join(f"{op} {count}" for op, count in counted))
    dynamic = sorted(
        {
            shown_dimension(d) if d is not None else "unnamed"
            for spec in model.signature.inputs
            for d in spec.shape
            if not isinstance(d, int)
        }
    )
    if dynamic:
        console.result(
            f"dynamic dimensions: {', '.join(dynamic)} "
            "(parameters of the generated input type; fix one with --shape NAME=SIZE)"
        )
    for note in model.notes:
        console.result(f"note: {note}")
    stops = models.blockers(model)
    for stop in stops:
        console.result(f"cannot ship: {stop}")
    if not stops:
        console.result("the model can ship")


def describe(spec: "TensorSpec") -> list[str]:
    shape = ", ".join("?" if dimension is None else shown_dimension(dimension) for dimension in spec.shape)
    return [spec.name, spec.identifier, str(spec.element), f"[{shape}]"]


def shown_dimension(dimension: int | str) -> str:
    """A size, or the name of a dimension, which may be any text in a model, in one line."""
    from packager.core import characters

    return characters.in_one_line(str(dimension))
