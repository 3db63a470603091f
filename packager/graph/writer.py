"""Writes ONNX nodes into a model, with names that mark them as part of a contract."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from packager.core import names
from packager.core.contract import ADDED
from packager.core.signature import Dimension, ElementType, TensorSpec

if TYPE_CHECKING:
    import numpy
    from onnx import NodeProto, ValueInfoProto

OPSET = 18
"""oldest opset that contracts can use: it has Resize with antialias"""


@dataclass(frozen=True, kw_only=True)
class Written:
    """Nodes, constants, inputs and outputs written so far, in order."""

    nodes: "list[NodeProto]" = field(default_factory=list)
    inputs: list[TensorSpec] = field(default_factory=list)
    outputs: list[TensorSpec] = field(default_factory=list)
    constants: "dict[str, numpy.ndarray]" = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Writer:
    """Collects nodes, constants, inputs and outputs for one tensor of a model.

    Values are referred to by name. Methods that take values also take numbers or lists of numbers for constants: int64
    if all are Python integers, else `real`.
    """

    scope: str
    """name of the tensor: nodes are called `mobpack/SCOPE/NUMBER_OP`"""
    taken: frozenset[str] = frozenset()
    """names of the model's own values"""
    written: Written = field(default_factory=Written)
    real: ElementType = ElementType.FLOAT
    """type of non-integer constants: FLOAT or DOUBLE"""
    nothing: str = ""
    """an int64 0 with one element, of a length that is unknown before the model runs; empty if not hiding"""
    flat: str = ""
    """an int64 -1 with one element, of a length that is unknown before the model runs, so that ranks are, too; empty if
    they may be known"""

    def hiding(self, nothing: str) -> "Writer":
        """A Writer for values that no provider of a phone may compute: doubles, with shapes hidden by `nothing`."""
        return replace(self, real=ElementType.DOUBLE, nothing=nothing) if nothing else self

    def node(self, op: str, *values: "Operand", **attributes: Any) -> str:
        """Writes a node with one output; returns the output's name. An empty text omits an optional input."""
        (made,) = self.nodes(op, 1, *values, **attributes)
        return made

    def nodes(self, op: str, outputs: int, *values: "Operand", **attributes: Any) -> tuple[str, ...]:
        """Writes a node with several outputs; returns their names."""
        from onnx import helper

        name = f"{ADDED}{self.scope}/{len(self.written.nodes)}_{op}"
        made = tuple(self._free(name if outputs == 1 else f"{name}.{number}") for number in range(outputs))
        inputs = [self._operand(value) for value in values]
        self.written.nodes.append(helper.make_node(op, inputs, made, name=name, **attributes))
        return made

    def loop(
        self,
        most: "Operand",
        carried: "Sequence[Carried]",
        step: "Step",
        *,
        scanned: Sequence[ElementType] = (),
        begins: str = "",
    ) -> tuple[str, ...]:
        """Writes a Loop of at most `most` steps; an empty text for no limit. Returns the last values of `carried`,
        then the values of each step, stacked, for every type in `scanned`. No step is taken if `begins` is false."""
        from onnx import TensorProto, helper

        inner = self._inner()
        number, goes_on = f"{ADDED}{inner.scope}/step", f"{ADDED}{inner.scope}/goes_on"
        names_in = tuple(f"{ADDED}{inner.scope}/carried_{index}" for index in range(len(carried)))
        condition, results = step(inner, number, names_in)
        types = [*(element for _, element in carried), *scanned]
        body = helper.make_graph(
            inner.written.nodes,
            "body",
            [
                helper.make_tensor_value_info(number, TensorProto.INT64, []),
                helper.make_tensor_value_info(goes_on, TensorProto.BOOL, []),
                *(_shapeless(name, element) for name, (_, element) in zip(names_in, carried, strict=True)),
            ],
            [
                helper.make_tensor_value_info(condition, TensorProto.BOOL, []),
                *(_shapeless(name, element) for name, element in zip(results, types, strict=True)),
            ],
        )
        starts = [value for value, _ in carried]
        return self.nodes("Loop", len(types), most, begins, *starts, body=body)

    def branch(
        self, condition: str, then: "Branch", otherwise: "Branch", types: Sequence[ElementType]
    ) -> tuple[str, ...]:
        """Writes an If whose branches give values of `types`."""
        from onnx import helper

        graphs = []
        for name, branch in (("then", then), ("else", otherwise)):
            inner = self._inner(name)
            results = [inner.node("Identity", value) for value in branch(inner)]
            infos = [_shapeless(value, element) for value, element in zip(results, types, strict=True)]
            graphs.append(helper.make_graph(inner.written.nodes, name, [], infos))
        return self.nodes("If", len(types), condition, then_branch=graphs[0], else_branch=graphs[1])

    def _inner(self, suffix: str = "") -> "Writer":
        """A Writer for the graph of the next node; constants lie in the outermost graph."""
        scope = f"{self.scope}/{len(self.written.nodes)}{suffix}"
        return replace(self, scope=scope, written=Written(constants=self.written.constants))

    def constant(self, array: "numpy.ndarray") -> str:
        """Name of a constant; equal numbers share one."""
        for name, known in self.written.constants.items():
            if known.dtype == array.dtype and known.shape == array.shape and known.tobytes() == array.tobytes():
                return name
        name = self._free(f"{ADDED}{self.scope}/constant_{len(self.written.constants)}")
        self.written.constants[name] = array
        return name

    def is_constant(self, name: str) -> bool:
        """Whether a value is a constant of this graph."""
        return name in self.written.constants

    def integer(self, value: int) -> str:
        """An int64 constant without dimensions."""
        import numpy

        return self.constant(numpy.array(value, numpy.int64))

    def double(self, value: float) -> str:
        """A double constant without dimensions, for sizes and positions that no provider of a phone may compute."""
        import numpy

        return self.constant(numpy.array(value, numpy.float64))

    def floats(self, *values: float) -> str:
        """A float constant of one dimension."""
        import numpy

        return self.constant(numpy.array(values, numpy.float32))

    def doubles(self, *values: float) -> str:
        """A double constant of one dimension."""
        import numpy

        return self.constant(numpy.array(values, numpy.float64))

    def integers(self, *values: int) -> str:
        """An int64 constant of one dimension."""
        import numpy

        return self.constant(numpy.array(values, numpy.int64))

    def int32(self, values: int | Sequence[int]) -> str:
        """An int32 constant: without dimensions, or of one."""
        import numpy

        return self.constant(numpy.array(values, numpy.int32))

    def flattened(self, value: str) -> str:
        """`value` with one dimension."""
        return self.node("Reshape", value, self.flat or [-1])

    def positions(self, value: str) -> str:
        """int64 [n]: where `value`, of one dimension, is neither 0 nor false."""
        return self.flattened(self.node("NonZero", value))

    def cast(self, value: "Operand", element: ElementType) -> str:
        return self.node("Cast", value, to=onnx_type(element))

    def input(self, suffix: str, element: ElementType, shape: tuple[Dimension, ...]) -> TensorSpec:
        """Adds an input of the graph called `SCOPE.suffix`."""
        spec = self._spec(suffix, element, shape)
        self.written.inputs.append(spec)
        return spec

    def output(self, value: str, suffix: str, element: ElementType, shape: tuple[Dimension, ...]) -> TensorSpec:
        """Makes `value` an output of the graph, called `SCOPE.suffix`."""
        from onnx import helper

        spec = self._spec(suffix, element, shape)
        self.written.nodes.append(helper.make_node("Identity", [value], [spec.name], name=f"{ADDED}{spec.name}"))
        self.written.outputs.append(spec)
        return spec

    def _spec(self, suffix: str, element: ElementType, shape: tuple[Dimension, ...]) -> TensorSpec:
        name = self._free(f"{self.scope}.{suffix}")
        (identifier,) = names.identifiers([name], prefix="tensor")
        return TensorSpec(name=name, identifier=identifier, element=element, shape=shape)

    def _free(self, name: str) -> str:
        """`name`, with apostrophes appended if the model already uses it."""
        while name in self.taken:
            name += "'"
        return name

    def _operand(self, value: "Operand") -> str:
        import numpy

        if isinstance(value, str):
            return value
        numbers = numpy.array(value)
        real = numpy.float64 if self.real is ElementType.DOUBLE else numpy.float32
        return self.constant(numbers.astype(numpy.int64 if numbers.dtype.kind in "iub" else real))


Carried = tuple[str, ElementType]
"""a value that a Loop changes, and its type"""
Step = Callable[[Writer, str, tuple[str, ...]], tuple[str, Sequence[str]]]
"""writes a step of a Loop from its number and the carried values; returns whether to go on, and the new values"""
Branch = Callable[[Writer], Sequence[str]]

Operand = str | int | float | Sequence[int] | Sequence[float]
"""name of a value, or numbers for a constant"""


def _shapeless(name: str, element: ElementType) -> "ValueInfoProto":
    from onnx import helper

    return helper.make_tensor_value_info(name, onnx_type(element), None)


def onnx_type(element: ElementType) -> int:
    from onnx import TensorProto

    return int(TensorProto.DataType.Value(element.value.upper()))
