"""Reads a model's inputs and outputs: names, element types, shapes, and identifiers for generated code."""

from typing import TYPE_CHECKING

from packager.core import names
from packager.core.values import Dimension, ElementType, Signature, TensorSpec
from packager.graph.constants import fed_inputs

if TYPE_CHECKING:
    from onnx import ModelProto, ValueInfoProto


def signature(proto: "ModelProto") -> Signature:
    """The inputs that are not initializers, and the outputs, in the graph's own order."""
    inputs, outputs = fed_inputs(proto.graph), list(proto.graph.output)
    return Signature(inputs=_specs(inputs, "input"), outputs=_specs(outputs, "output"))


def signature_of(graph: bytes) -> Signature:
    """The signature of a serialized ModelProto."""
    from onnx import ModelProto

    return signature(ModelProto.FromString(graph))


def _specs(values: "list[ValueInfoProto]", prefix: str) -> tuple[TensorSpec, ...]:
    identifiers = names.identifiers([value.name for value in values], prefix=prefix)
    return tuple(
        TensorSpec(name=value.name, identifier=identifier, element=_element(value), shape=_shape(value))
        for value, identifier in zip(values, identifiers, strict=True)
    )


def _element(value: "ValueInfoProto") -> ElementType:
    from onnx import TensorProto

    if not value.type.HasField("tensor_type"):
        return ElementType.OTHER
    names = {number: name.lower() for name, number in TensorProto.DataType.items()}
    name = names.get(value.type.tensor_type.elem_type)
    return ElementType(name) if name in set(ElementType) else ElementType.OTHER


def _shape(value: "ValueInfoProto") -> tuple[Dimension, ...]:
    if not value.type.HasField("tensor_type"):
        return ()
    return tuple(
        dimension.dim_value
        if dimension.HasField("dim_value")
        else dimension.dim_param
        if dimension.dim_param not in ("", "?")
        else None
        for dimension in value.type.tensor_type.shape.dim
    )
