"""`mobpack init`: writes a commented mobpack.toml for a model."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from packager.cli.options import MODEL
from packager.core.characters import in_one_line, toml_string

if TYPE_CHECKING:
    from packager.cli.sizes import SearchedShapes
    from packager.cli.text_tables import Table, Value
    from packager.core.values import Model
    from packager.targets import Target

LABELS = "labels.txt"
"""file beside mobpack.toml with the names of classes"""
NO_FILES: Mapping[str, Path | None] = {}


@click.command(short_help="Write a commented mobpack.toml.")
@click.argument("model", type=MODEL)
@click.option("--out", "-o", type=MODEL, default=Path("mobpack.toml"), show_default=True, help="The file to write.")
@click.option("--force", is_flag=True, help="Replace an existing file.")
def init(model: Path, out: Path, force: bool) -> None:
    """Write a commented mobpack.toml for MODEL.onnx, or for a folder with an encoder and its decoder."""
    from packager import models
    from packager.cli import encoder_tables
    from packager.cli.sizes import SearchedShapes, found_sizes
    from packager.core import names
    from packager.core.console import Console
    from packager.core.errors import ConfigError
    from packager.files.atomic import atomic_file

    if out.exists() and not force:
        raise ConfigError(f"{out} already exists", hint="replace it with --force, or choose another file with --out")
    model = encoder_tables.decoder_in(model) or model
    encoder = encoder_tables.encoder_of(model)
    named = encoder_tables.folder_of(model) if encoder else model
    with_past = encoder_tables.with_past_of(model) if encoder else None
    loaded = models.load(model, names.model_name(named), encoder=encoder, with_past=with_past)
    console = Console()
    stops = models.blockers(loaded)
    sizes = SearchedShapes() if stops or encoder else found_sizes(loaded, console)
    tables = [] if stops else encoder_tables.proposals(loaded) if encoder else _proposals(loaded)
    if labels := _write_labels(tables, out, force=force):
        console.say(f"wrote {labels}")
    with atomic_file(out) as file:
        files = {"encoder": encoder, "with-past": with_past}
        file.write(project_file(loaded, names.package_name(named), out, sizes, tables, files=files).encode())
    console.say(f"wrote {out}")
    for table in tables:
        if table.doubt:
            console.warn(
                f"[model.{loaded.name}.{table.side}.{table.name}] is commented out: {in_one_line(table.doubt)}"
            )
    for stop in stops:
        console.warn(f"cannot ship: {stop}")
    if sizes.refusal:
        console.warn(f"set [parity] samples, because random inputs do not run: {sizes.refusal}")
    console.say("next: mobpack build")


def _proposals(model: "Model") -> "list[Table]":
    from packager.cli import decoder_tables, text_tables

    return decoder_tables.proposals(model) or text_tables.proposals(model)


def _write_labels(tables: "Sequence[Table]", out: Path, *, force: bool) -> Path | None:
    """Writes the names of classes beside `out`; nothing if no table has any."""
    from packager.core.errors import ConfigError
    from packager.files.atomic import atomic_file

    labels = [each for table in tables for each in table.labels]
    if not labels:
        return None
    path, content = out.parent / LABELS, "".join(f"{each}\n" for each in labels).encode()
    if path.exists() and not force and path.read_bytes() != content:
        raise ConfigError(f"{path} already exists", hint="replace it with --force, or move it away")
    with atomic_file(path) as file:
        file.write(content)
    return path


def _relative(file: Path, out: Path) -> str:
    """`file` relative to the folder of `out`: paths in mobpack.toml are relative to it."""
    import os

    try:
        return Path(os.path.relpath(file.absolute(), out.absolute().parent)).as_posix()
    except ValueError:  # on another drive of Windows
        return file.absolute().as_posix()


def project_file(
    model: "Model",
    package: str,
    out: Path,
    sizes: "SearchedShapes",
    tables: "Sequence[Table]",
    *,
    files: Mapping[str, Path | None] = NO_FILES,
) -> str:
    """The text of mobpack.toml: common keys, each with a comment; optional ones are commented out at their defaults."""
    about = "needed: it runs on no random inputs" if sizes.refusal else "random inputs when absent"
    lines = [
        "# Build with: mobpack build",
        "# Paths are relative to this file.",
        "",
        "[package]",
        _line(f'name = "{package}"', "artifact id; Kotlin package and Swift module derive from it"),
        'version = "1.0.0"',
        _line('# license = "Apache-2.0"', "SPDX identifier, for the package's metadata"),
        "",
        *_model(model, out, files),
        *([] if files.get("encoder") else _shapes(model, sizes)),
        *(_texts(model, out, tables) or _contract(model)),
        "",
        _line("# [variant.small]", "smaller numbers: docs/quantization.md"),
        _line('# quantizer = "auto"', '"static-qdq", "dynamic", "weight-only", "float16"'),
        _line('# calibration = "samples/"', "inputs as the app will have them"),
        _line("# max-drop = 0.01", "how much accuracy may be lost"),
        "",
        _line("[parity]", "nothing ships that computes something other than the model"),
        _line(
            '# samples = "samples/"',
            f".npz files keyed by input name; {about}",
        ),
        _line("# tolerance = 1e-3", "largest allowed error: atol + tolerance x the output's largest value"),
        "",
        *_targets(),
    ]
    return "\n".join(lines) + "\n"


def _model(model: "Model", out: Path, files: Mapping[str, Path | None]) -> list[str]:
    """The table of the model, without its shapes and its contract."""
    return [
        _line(f"[model.{model.name}]", "the class name derives from this key"),
        f"path = {toml_string(_relative(model.path, out))}",
        *(
            _line(f"{key} = {toml_string(_relative(file, out))}", "docs/generation.md")
            for key, file in files.items()
            if file
        ),
        _line('# license = "MODEL_LICENSE.txt"', "shipped in the package"),
        _line('# card = { license = "Apache-2.0" }', "of the weights, as SPDX says it: docs/sbom.md"),
        *_rename(model),
    ]


def _targets() -> list[str]:
    """The tables of the targets, of which the first is not commented out, and of the runtime."""
    from packager.targets import KNOWN_TARGETS, TARGETS

    lines = []
    for index, (name, kind) in enumerate(KNOWN_TARGETS.items()):
        mark = "# " if index else ""
        table = {f"[target.{name}]": kind.ABOUT, **kind.COMMON}
        table |= _providers(TARGETS[name]()) if name in TARGETS else {}
        lines += [_line(mark + text.removeprefix(mark), about) for text, about in table.items()]
        lines.append("")
    return [
        *lines,
        _line("# [runtime]", "an ONNX Runtime of your own: mobpack runtime recipe"),
        '# android = "runtime.aar"',
    ]


def _providers(target: "Target") -> dict[str, str]:
    """The key with the providers of a target that has any by default."""
    from packager.providers import providers_of

    known = ", ".join(f'"{name}"' for name in sorted(providers_of(target.NAME)))
    given = ", ".join(map(toml_string, target.providers))
    return {f"# providers = [{given}]": f"tried in this order, CPU last: {known}"} if given else {}


def _line(text: str, comment: str) -> str:
    return f"{text:<33} # {comment}"


def _rename(model: "Model") -> list[str]:
    """A commented `[model.NAME.rename]` for names that say nothing in an app's code."""
    from packager.cli.better_names import proposals

    found = proposals(model.signature)
    if not found:
        return []
    about = "names in generated code and in the tables below"
    lines = [f"# {_key(name)} = {toml_string(better)}" for name, better in found.items()]
    return ["", _line(f"# [model.{model.name}.rename]", about), *lines]


def _shapes(model: "Model", sizes: "SearchedShapes") -> list[str]:
    """A commented `[model.NAME.shapes]` with sizes of the dynamic dimensions that the model runs with."""
    from packager.cli.sizes import lines

    found = list(lines(model, sizes))
    if not found:
        return []
    about = "dynamic dimensions: parameters of the generated input, unless fixed here"
    runs = "# the model runs with these" if sizes.shapes else "# random inputs of no size run: give [parity] samples"
    return ["", _line(f"# [model.{model.name}.shapes]", about), runs, *(f"# {line}" for line in found)]


def _texts(model: "Model", out: Path, tables: "Sequence[Table]") -> list[str]:
    """The tables for a model of texts; those in doubt are commented out, below the reason."""
    lines: list[str] = []
    for table in tables:
        mark = "# " if table.doubt else ""
        head = f"{mark}[model.{model.name}.{table.side}.{_key(table.name)}]"
        lines += ["", *([f"# commented out: {in_one_line(table.doubt)}"] if table.doubt else [])]
        lines.append(_commented(head, table.comments.get(table.name, "")))
        keys = {**table.keys, **({"labels": LABELS} if table.labels else {})}
        for key, value in keys.items():
            lines.append(_commented(f"{mark}{key} = {_shown(value, out)}", table.comments.get(key, "")))
    return lines


def _shown(value: "Value", out: Path) -> str:
    """The value in TOML."""
    if isinstance(value, list):
        return f"[{', '.join(map(toml_string, value))}]"
    if isinstance(value, int):
        return str(value)
    return toml_string(_relative(value, out) if isinstance(value, Path) else value)


def _commented(text: str, comment: str) -> str:
    return _line(text, comment) if comment else text


def _contract(model: "Model") -> list[str]:
    """Commented contract tables for the input that looks like an image and the output that looks like classes, or a
    pointer to the documentation if no input does."""
    from packager.core.values import ElementType

    inputs, outputs = model.signature.inputs, model.signature.outputs
    is_picture = [
        spec.element in (ElementType.FLOAT, ElementType.UINT8) and len(spec.shape) == 4 and {1, 3} & set(spec.shape[1:])
        for spec in inputs
    ]
    is_classes = [len(spec.shape) == 2 and isinstance(spec.shape[1], int) for spec in outputs]
    pictured = next((spec.name for spec, fits in zip(inputs, is_picture, strict=True) if fits), "")
    classed = next((spec.name for spec, fits in zip(outputs, is_classes, strict=True) if fits), "")
    if not pictured:
        about = "apps can pass pictures, sounds and states, and get labels, boxes and texts"
        return ["", f"# {about}: docs/contract.md"]
    gives = f"# [model.{model.name}.outputs.{_key(classed or 'OUTPUT')}]"
    return [
        "",
        _line(f"# [model.{model.name}.inputs.{_key(pictured)}]", "apps pass pictures of any size: docs/contract.md"),
        '# kind = "image"',
        _line('# resize = "crop"', '"stretch", "crop" or "letterbox"'),
        _line("# mean = [0.485, 0.456, 0.406]", "as the model was trained, on numbers from 0 to 1"),
        "# std = [0.229, 0.224, 0.225]",
        "",
        _line(gives, 'others are "boxes", "instances", "mask", "picture", "embedding", "text"'),
        '# kind = "classes"',
        _line('# activation = "softmax"', "what makes probabilities of the model's numbers"),
        _line('# labels = "labels.txt"', "the name of each class on a line of its own"),
    ]


def _key(name: str) -> str:
    """A tensor's name as a TOML key."""
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else toml_string(name)
