"""Checks that a model must pass before conversion: IR version, operator sets, size, element types."""

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from packager.core.errors import ModelError
from packager.core.values import ElementType, Model, Variant
from packager.files.installed import read_pins
from packager.graph import traversal
from packager.models.shapes import MOST_NUMBERS

if TYPE_CHECKING:
    from onnx import ModelProto

ORT_FORMAT_LIMIT_BYTES = 2**31 - 1
"""FlatBuffers offsets are 32-bit signed: an .ort file cannot be larger (flatbuffers.dev, "FlatBuffer internals")."""

RUNTIME_DOMAINS = frozenset(
    {
        "",
        "ai.onnx",
        "ai.onnx.ml",
        "com.microsoft",
        "com.microsoft.nchwc",
        "com.ms.internal.nhwc",
        "com.microsoft.experimental",
        "ai.onnx.preview.training",
    }
)

TYPE_ATTRIBUTES = ("to", "dtype", "output_dtype")
"""attributes of operators such as Cast: the element type of the output"""

# Element types by the IR version that introduced them: the history in onnx.proto, enum Version.
IR_OF_TYPES = {
    10: {"UINT4", "INT4"},
    11: {"FLOAT4E2M1"},
    12: {"FLOAT8E8M0"},
    13: {"UINT2", "INT2"},
    14: {"FLOAT6E2M3", "FLOAT6E3M2"},
}


def max_ir_version() -> int:
    return int(read_pins()["onnxruntime"]["max-ir-version"])


def max_opset() -> int:
    return int(read_pins()["onnxruntime"]["max-opset"])


def lower_ir_version(proto: "ModelProto") -> str:
    """Lowers the IR version of `proto` to one that the runtime reads, if no newer type is used; returns a note.

    An IR version with unknown additions stays.
    """
    declared, limit = proto.ir_version, max_ir_version()
    if declared <= limit or declared > max(IR_OF_TYPES) or _newer_types(proto, limit):
        return ""
    proto.ir_version = limit
    return f"IR version lowered from {declared} to {limit}: the model uses nothing newer"


def _newer_types(proto: "ModelProto", limit: int) -> set[str]:
    from onnx import TensorProto

    known = set(TensorProto.DataType.keys())
    newer = {name for ir, names in IR_OF_TYPES.items() if ir > limit for name in names}
    used = set(_types(proto))
    return {name for name in newer if name in known and TensorProto.DataType.Value(name) in used}


def _types(proto: "ModelProto") -> Iterator[int]:
    """Every element type in the model, including those in subgraphs and functions."""
    for graph in traversal.all_graphs(proto):
        yield from (tensor.data_type for tensor in graph.initializer)
        values = (*graph.input, *graph.output, *graph.value_info)
        yield from (value.type.tensor_type.elem_type for value in values)
    for node in traversal.all_nodes(proto):
        for attribute in node.attribute:
            if attribute.HasField("t"):
                yield attribute.t.data_type
            elif attribute.name in TYPE_ATTRIBUTES:
                yield attribute.i


def blockers(model: Model) -> tuple[str, ...]:
    """Reasons why the model cannot ship, one sentence each with its remedy; empty if it can."""
    return tuple(_blockers(model))


def refuse_blocked(model: Model) -> None:
    """Raises ModelError with the first of `blockers`."""
    stops = blockers(model)
    if stops:
        reason, _, hint = stops[0].partition("; ")
        more = f" (and {len(stops) - 1} more: mobpack inspect)" if len(stops) > 1 else ""
        raise ModelError(f"{model.path}: {reason}{more}", hint=hint)


def fits_ort_format(model: Model | Variant) -> bool:
    return model.size_bytes <= ORT_FORMAT_LIMIT_BYTES


def refuse_too_large(model: Model | Variant) -> None:
    """Raises ModelError for a model that is too large for one ORT-format file."""
    if not fits_ort_format(model):
        path = model.path if isinstance(model, Model) else model.model.path
        raise ModelError(
            f"{path}: {model.size_bytes / 1e9:.1f} GB is more than the ORT format can hold (2 GiB)",
            hint='ship it as ONNX (format = "auto"), quantize it before, or split it into several models',
        )


def _blockers(model: Model) -> Iterator[str]:
    for spec in (*model.signature.inputs, *model.signature.outputs):
        if math.prod(size for size in spec.shape if isinstance(size, int)) > MOST_NUMBERS:
            yield (
                f"'{spec.name}' has the shape {list(spec.shape)}, and no array of an app holds more than "
                f"{MOST_NUMBERS:,} numbers; export with smaller sizes, or give others with --shape"
            )
    if model.ir_version > max_ir_version():
        yield (
            f"IR version {model.ir_version} is newer than the runtime reads ({max_ir_version()}) and the model uses "
            "types it introduced; export without them: no ONNX Runtime reads it, up to the newest, "
            f"{read_pins()['onnxruntime']['newest']}"
        )
    opset = max(model.opsets.get("", 0), model.opsets.get("ai.onnx", 0))
    if opset > max_opset():
        yield (
            f"opset {opset} is newer than the runtime knows ({max_opset()}); "
            f"export with opset_version={max_opset()} or lower, or convert with onnx.version_converter: "
            f"no ONNX Runtime knows it, up to the newest, {read_pins()['onnxruntime']['newest']}"
        )
    foreign = [op for op in model.operators if "::" in op and op.split("::")[0] not in RUNTIME_DOMAINS]
    if foreign:
        domains = ", ".join(dict.fromkeys(op.split("::")[0] for op in foreign))
        yield (
            f"operators of {domains} are not in ONNX Runtime's mobile packages: {', '.join(foreign)}; "
            "replace them with standard ONNX operators, or define them as functions of the model"
        )
    for spec in (*model.signature.inputs, *model.signature.outputs):
        if spec.element is ElementType.OTHER:
            yield (
                f"'{spec.name}' is not a tensor of a type that mobile APIs carry; cast it inside the graph, "
                "or join a sequence of tensors there (ConcatFromSequence); export without ZipMap"
            )
    if not model.signature.outputs:
        yield "the model has no outputs"
