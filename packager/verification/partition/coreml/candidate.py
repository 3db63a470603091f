"""A node in the form that the rules of CoreML need.

The rules assume CoreML 7, that of iOS 17. ONNX Runtime asks the device.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from packager.graph.view import Graph, Node, Value

Numbers = tuple[int | float, ...]


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A node that CoreML may take, in its graph."""

    graph: Graph
    node: Node
    is_mlprogram: bool
    is_supported: Callable[[Node], bool]
    """whether another node of the graph would be taken"""

    @property
    def op(self) -> str:
        return self.node.op

    @property
    def version(self) -> int:
        """Opset version of the operator's form: ONNX does not define ONNX Runtime's own operators, which have one
        form."""
        return self.node.since_version or 1

    @property
    def count(self) -> int:
        """Number of inputs, including omitted optional ones in between."""
        return len(self.node.inputs)

    def has(self, index: int) -> bool:
        return index < self.count and bool(self.node.inputs[index])

    def input(self, index: int) -> Value:
        return self.graph.value(self.node.inputs[index]) if self.has(index) else Value(name="")

    def output(self, index: int = 0) -> Value:
        return self.graph.value(self.node.outputs[index])

    def element(self, index: int = 0) -> str:
        return self.input(index).element

    def sizes(self, index: int = 0) -> tuple[int, ...]:
        """The shape of an input, -1 where it is dynamic. A check before all rules ensures that shapes are known."""
        return tuple(size if isinstance(size, int) else -1 for size in self.input(index).shape or ())

    def rank(self, index: int = 0) -> int:
        return len(self.sizes(index))

    def is_static(self, index: int = 0) -> bool:
        return -1 not in self.sizes(index)

    def is_constant(self, index: int) -> bool:
        return self.input(index).is_constant

    def numbers(self, index: int) -> Numbers:
        """The numbers of a constant input, flattened; none if it is empty."""
        array = self.input(index).constant
        return () if array is None else tuple(array.reshape(-1).tolist())

    def integers(self, index: int) -> tuple[int, ...]:
        return tuple(int(number) for number in self.numbers(index))

    def has_attribute(self, name: str) -> bool:
        return name in self.node.attributes

    def number(self, name: str, default: float) -> float:
        value = self.node.attributes.get(name, default)
        return value if isinstance(value, int | float) else default

    def integer(self, name: str, default: int = 0) -> int:
        return int(self.number(name, default))

    def text(self, name: str, default: str) -> str:
        value = self.node.attributes.get(name, default)
        return value if isinstance(value, str) else default

    def sequence(self, name: str) -> tuple[int, ...]:
        """An attribute that lists integers; empty if it is absent."""
        value = self.node.attributes.get(name, ())
        return tuple(int(each) for each in value) if isinstance(value, tuple) else ()

    def axis(self, axis: int, index: int = 0) -> int:
        """`axis` of an input, counted from the front."""
        return axis + self.rank(index) if axis < 0 else axis


Rule = Callable[[Candidate], Iterator[str]]
"""Objections to a node, in order of precedence: only the first is requested, so code after a `yield` may assume that it
did not apply."""


def none(_: Candidate) -> Iterator[str]:
    """No requirements beyond those on every node."""
    yield from ()


def constant(candidate: Candidate, index: int, name: str) -> Iterator[str]:
    if not candidate.is_constant(index):
        yield f"{name} must be constant"


def static(candidate: Candidate, index: int = 0) -> Iterator[str]:
    if not candidate.is_static(index):
        yield f"the input must have a static shape: {shown(candidate.input(index))}"


def shown(value: Value) -> str:
    """A shape for messages: `[batch, 3, ?]`."""
    return "[" + ", ".join("?" if size is None else str(size) for size in value.shape or ()) + "]"
