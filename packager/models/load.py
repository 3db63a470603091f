"""Loads a model: checks and describes the graph, and leaves the weights in the user's files."""

import hashlib
import math
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from packager.core import user_files
from packager.core.characters import shown
from packager.core.errors import ConfigError, ModelError
from packager.core.values import Model, data_folder
from packager.graph import traversal
from packager.graph.rewriting.finishing import free_initializers
from packager.graph.rewriting.lifting import settle
from packager.graph.rewriting.order import sort_nodes
from packager.models import functions, joining, merging, opsets, shapes, signature, skeleton, weights
from packager.models.ends import complete
from packager.models.flat_scales import flatten_scales
from packager.models.renaming import rename
from packager.models.repairing import repair
from packager.models.traits import traits
from packager.models.zero_points import write_zero_points

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from onnx import ModelProto

MANY = 20_000
"""Number of nodes from which loading is announced."""

LONGEST_NAME = 10_000
"""Characters: in archives and messages, names have at most 65,535 bytes, and some get a suffix."""

IMPORTED = "mobpack.imported"
"""Key of a model's metadata: a sentence about its origin."""
IR_OF_OPSETS = {1: 3, 8: 3, 9: 4, 10: 5, 11: 6, 12: 7, 15: 8, 19: 9, 21: 10}
"""The IR version that came with each version of the operator set (onnx/docs/Versioning.md)."""


def silent(text: str) -> None:
    """Ignores announcements."""


def load(
    path: Path,
    name: str,
    *,
    encoder: Path | None = None,
    with_past: Path | None = None,
    renamed: "Mapping[str, str] | None" = None,
    fixed: shapes.Shapes | None = None,
    license_file: Path | None = None,
    announce: "Callable[[str], None]" = silent,
) -> Model:
    """The model in `path` under `name`, with its inputs, outputs and dimensions `renamed`, and with sizes for the
    dynamic dimensions in `fixed`, by their new names.

    With an `encoder`, `path` is the decoder of a sequence-to-sequence model, and both become one graph; so does the
    decoder of further steps, `with_past`, if it is in a file of its own. `announce` is
    called before something slow. No weights are read: `sha256` stays empty until `hashed`. Raises ModelError for a file
    that is not a valid ONNX model, ConfigError for names or shapes it does not have.
    """
    proto = parse(skeleton.read_skeleton(path), path)
    functions.refuse_endless(proto, path)
    if len(proto.graph.node) >= MANY:
        announce(f"{path.name} has {len(proto.graph.node):,} nodes: reading and converting them takes a while")
    data_files = weights.resolve_external_data(proto, path)
    repaired = repair(proto, path)
    if with_past:
        data_files = tuple(sorted({*data_files, *_merge(proto, with_past, path, f"model.{name}.with-past")}))
    if encoder:
        data_files = tuple(sorted({*data_files, *_join(proto, encoder, path, f"model.{name}.encoder")}))
    settle(proto, data_folder(path))
    lowered = opsets.lower_ir_version(proto)
    sort_nodes(proto)
    shapes.forget_unknown(proto)
    repaired += complete(proto, path, _by_old_names(fixed or {}, renamed or {}))
    check(proto, path)
    write_zero_points(proto)
    flatten_scales(proto)
    rename(proto, renamed or {}, f"[model.{name}.rename]")
    shapes.fix_shapes(proto, fixed or {}, f"[model.{name}.shapes]")
    inferred = shapes.infer_shapes(proto)
    model = Model(
        name=name,
        path=path,
        graph=inferred.SerializeToString(deterministic=True),
        signature=signature.signature(inferred),
        ir_version=proto.ir_version,
        opsets={entry.domain: entry.version for entry in proto.opset_import},
        operators=count_operators(proto),
        size_bytes=sum(file.stat().st_size for file in (path, *data_files)),
        parameter_count=count_parameters(proto),
        traits=traits(inferred),
        sha256="",
        data_files=data_files,
        license_file=license_file,
        imported=imported_from(proto),
    )
    random = ", ".join(model.random_operators)
    drawn = f"the model draws random numbers ({random}): its outputs differ from run to run" if random else ""
    mended = f"the model was repaired: {'; '.join(repaired)}" if repaired else ""
    return replace(model, notes=tuple(note for note in (lowered, mended, drawn) if note))


def _by_old_names(fixed: shapes.Shapes, renamed: "Mapping[str, str]") -> shapes.Shapes:
    """`fixed` by the names that inputs have in the file."""
    old = {new: name for name, new in renamed.items()}
    return {old.get(name, name): size for name, size in fixed.items()}


def imported_from(proto: "ModelProto") -> str:
    """The sentence about the model's origin that an import has left in it; empty without."""
    found = next((each.value for each in proto.metadata_props if each.key == IMPORTED), "")
    return " ".join(shown(found).split())[:500]


def _merge(proto: "ModelProto", with_past: Path, path: Path, where: str) -> tuple[Path, ...]:
    """Merges the decoder of further steps into `proto`, that in `path`; returns the files with its weights."""
    other, files = _other(with_past, path, where)
    merging.merge(proto, other, data_folder(path), where)
    return files


def _join(proto: "ModelProto", encoder: Path, path: Path, where: str) -> tuple[Path, ...]:
    """Joins the model in the file `encoder` into `proto`, the decoder in `path`; returns the files with its weights."""
    other, files = _other(encoder, path, where)
    joining.join(proto, other, encoder, where)
    return files


def _other(file: Path, path: Path, where: str) -> "tuple[ModelProto, tuple[Path, ...]]":
    """The model in `file`, which is beside `path`, and the files with its weights."""
    if data_folder(file) != data_folder(path):
        raise ConfigError(
            f"{where}: {file.name} is not in the folder of {path.name}", hint="put both files into one folder"
        )
    other = parse(skeleton.read_skeleton(file), file)
    functions.refuse_endless(other, file)
    files = weights.resolve_external_data(other, file)
    repair(other, file)
    return other, (user_files.resolved(file), *files)


def data_files_of(path: Path) -> tuple[Path, ...]:
    """Files with the external weights of the model at `path`. Reads and checks no more than that; raises ModelError."""
    return weights.resolve_external_data(parse(skeleton.read_skeleton(path), path), path)


def rebuilt(model: Model, proto: "ModelProto") -> Model:
    """`model` with `proto`, an edited copy of its graph: sorted, checked, with a new signature."""
    free_initializers(proto)
    proto.ir_version = max(proto.ir_version, *(ir for opset, ir in IR_OF_OPSETS.items() if opset <= _opset(proto)))
    sort_nodes(proto)
    inferred = shapes.infer_shapes(proto)
    check(inferred, model.path)
    return replace(
        model,
        graph=inferred.SerializeToString(deterministic=True),
        signature=signature.signature(inferred),
        ir_version=proto.ir_version,
        opsets={entry.domain: entry.version for entry in proto.opset_import},
        operators=count_operators(proto),
        traits=traits(inferred),
    )


def _opset(proto: "ModelProto") -> int:
    return max((entry.version for entry in proto.opset_import if entry.domain in ("", "ai.onnx")), default=1)


def hashed(model: Model) -> Model:
    """The model with its sha256; reads all of its files."""
    return replace(model, sha256=fingerprint((model.path, *model.data_files)))


def parse(content: bytes, path: Path) -> "ModelProto":
    import onnx
    from google.protobuf.message import DecodeError

    try:
        proto: onnx.ModelProto = onnx.ModelProto.FromString(content)
    except DecodeError as error:
        raise ModelError(
            f"{path}: not an ONNX model ({error})", hint="give an .onnx file; export it again if it is one"
        ) from error
    if not proto.ir_version or not proto.graph.node:
        raise ModelError(
            f"{path}: not an ONNX model (no graph in it)", hint="give an .onnx file; export it again if it is one"
        )
    texts = set(_texts(proto))
    if any(isinstance(text, bytes) for text in texts):  # how protobuf returns what it cannot decode
        raise ModelError(f"{path}: a name in it is not UTF-8 text", hint="the file is damaged: export it again")
    long = max(texts, key=len, default="")
    if len(long) > LONGEST_NAME:
        raise ModelError(
            f"{path}: a name in it has {len(long):,} characters: {shown(long[:40])}...",
            hint=f"give tensors, operators and dimensions names of at most {LONGEST_NAME:,} characters",
        )
    return proto


def _texts(proto: "ModelProto") -> "Iterable[str]":
    """The texts that later steps read: names of tensors, operators, dimensions and data files."""
    graph = proto.graph
    for value in (*graph.input, *graph.output, *graph.value_info):
        yield from (value.name, *(dimension.dim_param for dimension in value.type.tensor_type.shape.dim))
    for tensor in (*graph.initializer, *weights.external_tensors(proto)):
        yield from (tensor.name, *(text for entry in tensor.external_data for text in (entry.key, entry.value)))
    for node in traversal.all_nodes(proto):
        yield from (node.domain, node.op_type, *node.input, *node.output)
    yield from (text for function in proto.functions for text in (function.domain, function.name))
    yield from (entry.domain for entry in proto.opset_import)


def check(proto: "ModelProto", path: Path) -> None:
    """Runs ONNX's own checker on the graph. Empty tensors replace external weights, which are checked already."""
    import onnx.checker

    stand_in = proto
    if any(True for _ in weights.external_tensors(proto)):
        stand_in = type(proto)()
        stand_in.CopyFrom(proto)
    for tensor in weights.external_tensors(stand_in):
        del tensor.external_data[:]
        tensor.data_location = tensor.DEFAULT
        tensor.dims[:] = [0]
    try:
        onnx.checker.check_model(stand_in)
    except (onnx.checker.ValidationError, UnicodeDecodeError) as error:
        newer = stand_in.opset_import and max(entry.version for entry in stand_in.opset_import) > opsets.max_opset()
        hint = "export with a lower opset_version" if newer else "export the model again, or ask its author"
        raise ModelError(f"{path}: the ONNX checker refuses the model: {first_line(str(error))}", hint=hint) from error


def first_line(text: str) -> str:
    return text.strip().splitlines()[0] if text.strip() else "no reason given"


def count_operators(proto: "ModelProto") -> dict[str, int]:
    own = {(function.domain, function.name) for function in proto.functions}
    counts = Counter(
        f"{node.domain}::{node.op_type}" if node.domain not in ("", "ai.onnx") else node.op_type
        for node in traversal.all_nodes(proto)
        if (node.domain, node.op_type) not in own
    )
    return dict(sorted(counts.items()))


def count_parameters(proto: "ModelProto") -> int:
    """Number of elements of all initializers and of tensors in Constant nodes (some exporters keep every weight
    there)."""
    count: int = sum(math.prod(tensor.dims) for tensor in proto.graph.initializer)
    for node in traversal.all_nodes(proto):
        if node.attribute:
            tensors = [tensor for graph in traversal.subgraphs(node) for tensor in graph.initializer]
            if node.op_type == "Constant":
                tensors += [each.t for each in node.attribute if each.HasField("t")]
            count += sum(math.prod(tensor.dims) for tensor in tensors)
    return count


def fingerprint(files: "Iterable[Path]") -> str:
    """Lower-case hex sha256 over the contents of `files`, in order; of a single file, its own sha256."""
    digest = hashlib.sha256()
    for file in files:
        with file.open("rb") as content:
            while chunk := content.read(1 << 20):
                digest.update(chunk)
    return digest.hexdigest()
