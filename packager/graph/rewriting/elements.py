"""Element types of values, as the schemas of the operators bind them: which outputs follow which inputs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from packager.graph.rewriting.draft import Draft

if TYPE_CHECKING:
    from onnx import FunctionProto, NodeProto

FLOAT, FLOAT16 = "tensor(float)", "tensor(float16)"
TYPE_ATTRIBUTES = ("to", "dtype", "output_datatype")
"""Attributes with the number of an element type, which some operators give to their output."""


@dataclass(frozen=True)
class Formal:
    """A formal input or output of an operator."""

    type_name: str
    """a parameter such as `T`, or a type such as `tensor(float)`"""
    allowed: frozenset[str]
    """the types that it can have"""

    @property
    def is_fixed(self) -> bool:
        return self.type_name in self.allowed


@dataclass(frozen=True)
class ElementTypes:
    """The types of the values of a node, as the schema of its operator has them."""

    inputs: tuple[Formal, ...]
    outputs: tuple[Formal, ...]
    is_repeating: tuple[bool, bool]
    """whether the last input, and the last output, may be any number of them"""
    body: "FunctionProto | None" = None
    """the function that the operator is an abbreviation of; without nodes if it is none"""

    def of_inputs(self, node: "NodeProto") -> Iterator[tuple[int, str, Formal]]:
        """The values that `node` takes, without omitted ones: the place, the name and the formal input of each."""
        return _matched(node.input, self.inputs, self.is_repeating[0])

    def of_outputs(self, node: "NodeProto") -> Iterator[tuple[int, str, Formal]]:
        return _matched(node.output, self.outputs, self.is_repeating[1])


def _matched(names: Sequence[str], formals: Sequence[Formal], is_repeating: bool) -> Iterator[tuple[int, str, Formal]]:
    for place, name in enumerate(names):
        if name and (place < len(formals) or (formals and is_repeating)):
            yield place, name, formals[min(place, len(formals) - 1)]


def signature_of(node: "NodeProto", opset: int) -> ElementTypes | None:
    """The signature of the operator of `node`; None for an operator without a schema, and for one whose repeated
    values can have types of their own."""
    if node.domain in ("", "ai.onnx"):
        return _standard(node.op_type, opset)
    return _of_runtime().get((node.domain, node.op_type))


@cache
def _standard(operator: str, opset: int) -> ElementTypes | None:
    import onnx.defs

    try:
        schema = onnx.defs.get_schema(operator, opset)
    except onnx.defs.SchemaError:
        return None
    variadic = onnx.defs.OpSchema.FormalParameterOption.Variadic
    ends = [formals[-1] if formals else None for formals in (schema.inputs, schema.outputs)]
    repeating = [bool(end and end.option == variadic) for end in ends]
    if any(end and is_last and not end.is_homogeneous for end, is_last in zip(ends, repeating, strict=True)):
        return None
    return ElementTypes(
        inputs=tuple(Formal(each.type_str, frozenset(each.types)) for each in schema.inputs),
        outputs=tuple(Formal(each.type_str, frozenset(each.types)) for each in schema.outputs),
        is_repeating=(repeating[0], repeating[1]),
        body=schema.function_body,
    )


@cache
def _of_runtime() -> dict[tuple[str, str], ElementTypes]:
    """The signatures of ONNX Runtime's own operators, which onnx does not know."""
    from onnxruntime.capi.onnxruntime_pybind11_state import get_all_operator_schema, schemadef

    variadic = schemadef.OpSchema.FormalParameterOption.Variadic
    found = {}
    for schema in get_all_operator_schema():
        formals = [
            tuple(Formal(each.typeStr, frozenset(each.types)) for each in side)
            for side in (schema.inputs, schema.outputs)
        ]
        repeating = [bool(side and side[-1].option == variadic) for side in (schema.inputs, schema.outputs)]
        found[schema.domain, schema.name] = ElementTypes(
            inputs=formals[0], outputs=formals[1], is_repeating=(repeating[0], repeating[1])
        )
    return found


def elements_of(draft: Draft) -> dict[str, int]:
    """The element type of every tensor of the main graph whose type is known. Shape inference knows no operators of
    ONNX Runtime: their outputs follow from their schemas, and so does what depends on them."""
    graph = draft.graph
    known = {tensor.name: int(tensor.data_type) for tensor in graph.initializer}
    for value in (*graph.value_info, *graph.output, *graph.input):
        if value.type.HasField("tensor_type"):
            known[value.name] = int(value.type.tensor_type.elem_type)
    known = {name: element for name, element in known.items() if element}
    for node in graph.node:
        if all(name in known for name in node.output if name):
            continue
        if signature := signature_of(node, draft.opset):
            known |= {name: each for name, each in _followed(node, signature, known).items() if name not in known}
    return known


def _followed(node: "NodeProto", signature: ElementTypes, known: dict[str, int]) -> dict[str, int]:
    """The element types of the outputs of `node` that follow from those of its inputs, or are fixed."""
    from onnx import TensorProto

    bound = {formal.type_name: known[name] for _, name, formal in signature.of_inputs(node) if name in known}
    found = {}
    for _, name, formal in signature.of_outputs(node):
        if formal.is_fixed and formal.type_name.startswith("tensor("):
            found[name] = TensorProto.DataType.Value(formal.type_name.removeprefix("tensor(").rstrip(")").upper())
        elif formal.type_name in bound:
            found[name] = bound[formal.type_name]
        else:
            chosen = [each.i for each in node.attribute if each.name in TYPE_ATTRIBUTES]
            found |= dict.fromkeys([name] if chosen else [], *chosen)
    return found
