"""A unit of a graph with its values, in the form that the rules of the NNAPI provider need."""

from dataclasses import dataclass
from typing import TypeVar

from packager.graph.view import Attribute, Graph, Value
from packager.verification.partition.unit import NodeUnit, Port, number

LEVEL_1, LEVEL_2, LEVEL_3, LEVEL_4 = 27, 28, 29, 30
"""Feature levels of NNAPI; they are API levels up to Android 11."""
DOES_NOT_LOAD = "; with NNAPI the model does not load"
"""Ending of reasons to leave a node at which ONNX Runtime 1.29 fails instead of leaving it."""
Default = TypeVar("Default", int, float, str, tuple[int, ...])


@dataclass(frozen=True, kw_only=True)
class View:
    unit: NodeUnit
    graph: Graph
    feature_level: int
    """27 for Android 8.1, 28 for 9, 29 for 10, 30 for 11, 31 for 12 and later"""
    use_nchw: bool = False

    @property
    def op(self) -> str:
        return self.unit.target.op

    @property
    def since(self) -> int:
        return self.unit.target.since_version

    @property
    def kind(self) -> str:
        """The operator, with the prefix QDQ if nodes that quantize and dequantize belong to the unit."""
        return f"QDQ {self.op}" if self.unit.is_group else self.op

    def attribute(self, name: str, default: Default) -> Default:
        given: Attribute = self.unit.target.attributes.get(name, default)
        return given if isinstance(given, type(default)) else default

    def count(self) -> int:
        """Number of inputs, including omitted ones in the middle."""
        return len(self.unit.inputs)

    def has(self, index: int) -> bool:
        return index < len(self.unit.inputs) and bool(self.unit.inputs[index].value)

    def input(self, index: int) -> Value:
        return self.graph.value(self.unit.inputs[index].value) if index < len(self.unit.inputs) else Value(name="")

    def sizes(self, index: int) -> tuple[int, ...]:
        """Shape of an input; an earlier check ensures that it is known."""
        return self.input(index).sizes or ()

    def rank(self, index: int = 0) -> int:
        return len(self.sizes(index))

    def integers(self, index: int) -> tuple[int, ...] | None:
        """Numbers of a constant input; None if they were not read."""
        array = self.input(index).constant
        return None if array is None else tuple(int(each) for each in array.reshape(-1))

    def scale(self, port: Port) -> float | None:
        """The scale of a quantized input or output; None if it is not constant."""
        return number(self.graph.value(port.quantization.scale)) if port.quantization else None

    def zero_point(self, port: Port) -> int | None:
        """The zero point of a quantized input or output, which the provider reads as unsigned; None if it is not
        constant."""
        if not port.quantization:
            return None
        if not port.quantization.zero_point:
            return 0
        found = number(self.graph.value(port.quantization.zero_point))
        return None if found is None else int(found) % 256
