"""A unit of a graph with its values, in the form that the rules of a provider need."""

from dataclasses import dataclass
from typing import TypeVar

from packager.graph.view import Attribute, Graph, Value
from packager.verification.partition.unit import NodeUnit

Default = TypeVar("Default", int, float, str, tuple[int, ...])


@dataclass(frozen=True, kw_only=True)
class UnitView:
    unit: NodeUnit
    graph: Graph

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
