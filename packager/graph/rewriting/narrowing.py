"""Makes nodes compute in 16 bits: their values and constants become float16, and casts stand at the borders.

Every value has one type, that of the node that computes it. A node that takes it in the other one takes a cast of it,
which all such nodes share. Large weights are converted in a stream from file to file.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from packager.graph import traversal
from packager.graph.rewriting.draft import KEEP_INLINE_BYTES, Draft
from packager.graph.rewriting.elements import FLOAT, FLOAT16, ElementTypes, signature_of
from packager.graph.weights.half import Halves, raised_halves
from packager.graph.weights.reading import read_weight

if TYPE_CHECKING:
    from onnx import GraphProto, NodeProto

CHOOSING = ("Cast", "ConstantOfShape")
"""Operators whose output has the type that an attribute says, and that compute as well in 16 bits."""


@dataclass(frozen=True)
class Types:
    """The element types of the values of a graph, as far as they are known."""

    elements: Mapping[str, int]
    opset: int

    def is_float(self, name: str) -> bool:
        from onnx import TensorProto

        return self.elements.get(name) == TensorProto.FLOAT

    def obstacle(self, node: "NodeProto") -> str:
        """Why the operator of `node` cannot take and give its floats in 16 bits; empty if it can."""
        names = [name for name in (*node.input, *node.output) if name]
        signature = signature_of(node, self.opset)
        if signature is None or not all(name in self.elements for name in names):
            return "the types of its values are not known"
        if _has_wide_constants(signature):
            return "it computes in 32 bits"
        taken = [formal for _, name, formal in signature.of_inputs(node) if self.is_float(name)]
        if any(FLOAT16 not in formal.allowed and not formal.is_fixed for formal in taken):
            return "it computes in 32 bits"
        bound = {formal.type_name for formal in taken if FLOAT16 in formal.allowed}
        given = {formal.type_name for _, name, formal in signature.of_outputs(node) if self.is_float(name)}
        return "" if given <= bound or node.op_type in CHOOSING else "its result has 32 bits"

    def fixed(self, node: "NodeProto") -> set[int]:
        """Places of the inputs that have 32 bits in any case, such as the factors of Resize."""
        signature = signature_of(node, self.opset)
        return (
            {place for place, _, formal in signature.of_inputs(node) if formal.type_name == FLOAT}
            if signature
            else set()
        )


def _has_wide_constants(signature: ElementTypes) -> bool:
    """Whether the operator's function computes with constants in 32 bits, whatever its input is:
    ONNX Runtime puts that function into the graph where it has no kernel."""
    if signature.body is None:
        return False
    made = {name for node in signature.body.node if _is_wide_constant(node) for name in node.output}
    return any(made & {*node.input} for node in signature.body.node if node.op_type not in ("Cast", "CastLike"))


def _is_wide_constant(node: "NodeProto") -> bool:
    return node.op_type == "Constant" and any(
        each.name in ("value_float", "value_floats") or (each.HasField("t") and each.t.data_type == each.t.FLOAT)
        for each in node.attribute
    )


def narrow(draft: Draft, types: Types, wide: Collection[int]) -> None:
    """Makes the nodes of the main graph compute in 16 bits, except those at the places `wide`, and counts the constants
    that change. Inputs, outputs, branches and bodies stay in 32 bits."""
    graph = _Narrowed(draft=draft, types=types, wide=wide)
    for place, node in enumerate(draft.graph.node):
        graph.add(node, is_wide=place in wide)
    draft.replace_nodes(graph.nodes)
    _halve(draft, graph.halves)


@dataclass
class _Narrowed:
    """The nodes so far, and how they take values."""

    draft: Draft
    types: Types
    wide: Collection[int]
    nodes: "list[NodeProto]" = field(default_factory=list)
    narrow: set[str] = field(default_factory=set)
    """computed values in 16 bits"""
    twins: dict[tuple[str, bool], str] = field(default_factory=dict)
    """a value, and whether it is wanted in 16 bits -> the value of the other type beside it"""
    halves: dict[str, str] = field(default_factory=dict)
    """constant -> its name in 16 bits"""

    def __post_init__(self) -> None:
        self.wide_constants = _wide_constants(self.draft, self.types, self.wide)

    def add(self, node: "NodeProto", *, is_wide: bool) -> None:
        fixed = self.types.fixed(node)
        for index, name in enumerate(node.input):
            node.input[index] = self._taken(name, is_narrow=not is_wide and index not in fixed)
        captured = {name: self._taken(name, is_narrow=False) for name in sorted(_captured(node))}
        for graph in traversal.subgraphs(node):
            _rename(graph, {name: taken for name, taken in captured.items() if taken != name})
        self.nodes.append(node)
        if not is_wide:
            self._narrow(node)

    def _taken(self, name: str, *, is_narrow: bool) -> str:
        """The value that a node takes for `name`, in the width it wants if that is a float."""
        if not self.types.is_float(name):
            return name
        if name in self.draft.constants:
            return self._half(name) if is_narrow else name
        if is_narrow == (name in self.narrow):
            return name
        if (name, is_narrow) not in self.twins:
            self._cast(name, f"{name}_cast_to_{'fp16' if is_narrow else 'fp32'}", is_narrow=is_narrow)
        return self.twins[name, is_narrow]

    def _half(self, name: str) -> str:
        """The name of a constant in 16 bits: its own unless a node takes it in 32 bits, too."""
        if name not in self.halves:
            self.halves[name] = self.draft.unique(f"{name}_fp16") if name in self.wide_constants else name
        return self.halves[name]

    def _narrow(self, node: "NodeProto") -> None:
        """Declares the outputs of `node` as float16; an output of the graph is cast back."""
        _choose_half(node)
        for index, name in enumerate(node.output):
            if not self.types.is_float(name):
                continue
            if name not in self.draft.outputs:
                self.narrow.add(name)
                continue
            node.output[index] = self.twins[name, True] = self.draft.unique(f"{name}_fp16")
            self._write_cast(node.output[index], name, is_narrow=False)

    def _cast(self, name: str, output: str, *, is_narrow: bool) -> None:
        self.twins[name, is_narrow] = self.draft.unique(output)
        self._write_cast(name, self.twins[name, is_narrow], is_narrow=is_narrow)

    def _write_cast(self, name: str, output: str, *, is_narrow: bool) -> None:
        from onnx import TensorProto, helper

        element = TensorProto.FLOAT16 if is_narrow else TensorProto.FLOAT
        self.nodes.append(helper.make_node("Cast", [name], [output], self.draft.unique(f"{output}_node"), to=element))


def _wide_constants(draft: Draft, types: Types, wide: Collection[int]) -> set[str]:
    """The constants that some node takes in 32 bits, and those that are outputs."""
    found = set(draft.outputs)
    for place, node in enumerate(draft.graph.node):
        fixed = range(len(node.input)) if place in wide else types.fixed(node)
        found |= {node.input[index] for index in fixed} | _captured(node)
    return found & draft.constants.keys()


def _choose_half(node: "NodeProto") -> None:
    """Makes an operator whose attribute says the type of its output give float16 instead of float32."""
    from onnx import TensorProto, helper, numpy_helper

    if node.op_type == "Cast":
        for each in node.attribute:
            if each.name == "to" and each.i == TensorProto.FLOAT:
                each.i = TensorProto.FLOAT16
    elif node.op_type == "ConstantOfShape":
        value = next((numpy_helper.to_array(each.t) for each in node.attribute if each.name == "value"), None)
        if value is None or value.dtype == "float32":
            del node.attribute[:]
            half = raised_halves(value) if value is not None else bytes(2)
            tensor = helper.make_tensor("value", TensorProto.FLOAT16, [1], half, raw=True)
            node.attribute.append(helper.make_attribute("value", tensor))


def _captured(node: "NodeProto") -> set[str]:
    """Values that the subgraphs of `node` take from outside."""
    return {name for graph in traversal.subgraphs(node) for name in _outer(graph)}


def _outer(graph: "GraphProto") -> set[str]:
    own = {value.name for value in (*graph.input, *graph.initializer)}
    own |= {name for node in graph.node for name in node.output}
    taken = {value.name for value in graph.output}
    for node in graph.node:
        taken |= {*node.input} | _captured(node)
    return taken - own


def _rename(graph: "GraphProto", names: Mapping[str, str]) -> None:
    """Makes `graph`, including its subgraphs, take other values from outside."""
    if not names:
        return
    for output in graph.output:
        output.name = names.get(output.name, output.name)
    for node in graph.node:
        node.input[:] = [names.get(name, name) for name in node.input]
        for inner in traversal.subgraphs(node):
            _rename(inner, names)


def _halve(draft: Draft, names: Mapping[str, str]) -> None:
    """Converts the constants in `names`, each under its name in 16 bits."""
    from onnx import TensorProto

    for index, tensor in enumerate(list(draft.graph.initializer)):
        if tensor.name not in names:
            continue
        weight = read_weight(tensor, draft.data_folder)
        half = TensorProto(name=names[tensor.name], data_type=TensorProto.FLOAT16, dims=weight.shape)
        place = index
        if half.name != tensor.name:
            place = len(draft.graph.initializer)
            draft.graph.initializer.add()
        is_large = weight.size_bytes >= KEEP_INLINE_BYTES
        half.raw_data = b"" if is_large else raised_halves(weight.array())
        draft.graph.initializer[place].CopyFrom(half)
        if is_large:
            draft.fill(place, TensorProto.FLOAT16, weight.shape, Halves(weight, threads=draft.threads))
        draft.changed += 1
