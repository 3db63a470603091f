"""`mobpack convert`: converts a model to ORT format and lists its required operators, without packaging."""

from pathlib import Path

import click

from packager.cli.options import MODEL, cache_option, cache_table, json_option, parse_shapes, print_json, shape_option


@click.command(short_help="Convert a model to ORT format.")
@click.argument("model", type=MODEL)
@click.option("--out", "-o", type=MODEL, help="The .ort file to write; default: MODEL's name, in the current folder.")
@shape_option
@cache_option
@json_option
def convert(model: Path, out: Path | None, shapes: tuple[str, ...], cache_url: str | None, as_json: bool) -> None:
    """Convert MODEL.onnx to canonical ORT format and write its operator configuration beside it."""
    from packager import models
    from packager.compile.compile import compile_variant
    from packager.compile.operators import operator_config
    from packager.core import names
    from packager.core.console import Console, size
    from packager.core.values import baseline
    from packager.files.atomic import atomic_file, copy_rest
    from packager.verification.observed import with_observed_shapes
    from packager.workflows.private_models import is_known
    from packager.workflows.shared_store import is_named, opened_store

    console = Console(quiet=as_json)
    out = out or Path(f"{model.stem}.ort")
    cache = cache_table(cache_url) if is_named(cache_url) else None  # a table takes longer to import than to convert
    is_private = cache is not None and is_known(model)
    with opened_store(cache, console, is_private=is_private) as store, console.step(f"convert {model.name}"):
        loaded = models.load(model, names.model_name(model), fixed=parse_shapes(shapes))
        models.refuse_blocked(loaded)
        models.refuse_too_large(loaded)
        loaded = with_observed_shapes(models.hashed(loaded), store, console)
        compiled = compile_variant(baseline(loaded), store)
    operators = out.with_suffix(".required_operators_and_types.config")
    with compiled.path.open("rb") as content, atomic_file(out) as file:
        copy_rest(content, file)
    with atomic_file(operators) as file:
        file.write(operator_config([compiled.operators]).encode())
    for note in loaded.notes:
        console.warn(note)
    if as_json:
        print_json(
            {
                "path": str(out),
                "sha256": compiled.sha256,
                "size-bytes": compiled.size_bytes,
                "operators": str(operators),
                "disabled-optimizers": list(compiled.disabled_optimizers),
            }
        )
    else:
        console.result(
            f"{out}: {size(compiled.size_bytes)}, sha256 {compiled.sha256}\n"
            f"{operators}: operators and types that a reduced runtime needs"
        )
