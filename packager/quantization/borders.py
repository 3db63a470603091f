"""Keeps the values between a contract and the model inside it: rewrites remove what is not an output of the graph."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from packager.core.values import Model, TensorSpec

if TYPE_CHECKING:
    from onnx import ModelProto


def own_values(model: Model) -> tuple[TensorSpec, ...]:
    """Inputs and outputs of the model itself that lie inside of its graph."""
    own = model.contract.own if model.contract else None
    if own is None:
        return ()
    outside = {spec.name for spec in (*model.signature.inputs, *model.signature.outputs)}
    return tuple(spec for spec in (*own.inputs, *own.outputs) if spec.name not in outside)


def with_outputs(graph: bytes, values: Sequence[TensorSpec]) -> bytes:
    """The serialized ModelProto `graph` with those of `values` that its main graph computes as further outputs."""
    if not values:
        return graph
    proto = _parsed(graph)
    made = {name for node in proto.graph.node for name in node.output}
    for spec in values:
        if spec.name in made:
            proto.graph.output.add().name = spec.name  # ONNX Runtime infers its type
    return bytes(proto.SerializeToString(deterministic=True))


def without_outputs(graph: bytes, values: Sequence[TensorSpec]) -> bytes:
    """`graph` without the outputs that `with_outputs` added."""
    if not values:
        return graph
    proto = _parsed(graph)
    names = {spec.name for spec in values}
    kept = [
        type(value).FromString(value.SerializeToString()) for value in proto.graph.output if value.name not in names
    ]
    del proto.graph.output[:]
    proto.graph.output.extend(kept)
    return bytes(proto.SerializeToString(deterministic=True))


def _parsed(graph: bytes) -> "ModelProto":
    import onnx

    proto: ModelProto = onnx.ModelProto.FromString(graph)
    return proto
