"""Removes the quantization from a model: float weights, and no rounding between operators.

For providers without QuantizeLinear (CoreML): they run the float graph whole and the quantized one in partitions.
Rounding is removed, limits stay: quantizers drop a Relu or Clip that the limits of 8 bits make superfluous
(QDQRemovableActivation in onnxruntime/quantization/operators/activation.py).
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from packager.core.strict_tables import STRICT
from packager.graph import traversal
from packager.graph.constants import constant_tensors
from packager.graph.rewriting.draft import Draft

if TYPE_CHECKING:
    import numpy
    from onnx import GraphProto, NodeProto, TensorProto

LAYOUT = ("axis", "block_size")
ConstantReader = Callable[[str], "numpy.ndarray"]


@dataclass(frozen=True, kw_only=True)
class Dequantized:
    NAME: ClassVar[str] = "dequantized"
    __pydantic_config__: ClassVar[Mapping[str, object]] = STRICT

    quantizer: Literal["dequantized"] = "dequantized"
    """how the variant is made"""

    def quantize(self, draft: Draft) -> None:
        _dequantize(draft)


def _dequantize(draft: Draft) -> None:
    """Replaces DequantizeLinear of constants by float constants, and every QuantizeLinear -> DequantizeLinear that only
    rounds by nothing, or by the limits that it implies. Drops unused nodes."""
    from onnx import numpy_helper

    graph, constants = draft.graph, constant_tensors(draft.graph)
    renamed: dict[str, str] = {}
    gone: set[int] = set()

    def read(name: str) -> "numpy.ndarray":
        array: numpy.ndarray = numpy_helper.to_array(constants[name], str(draft.data_folder))
        return array

    for node in graph.node:
        if node.op_type != "DequantizeLinear":
            continue
        source = draft.producers.get(node.input[0])
        if all(name in constants for name in node.input if name):
            graph.initializer.append(numpy_helper.from_array(_dequantized(node, read), node.output[0]))
            gone.add(id(node))
        elif source is not None and source.op_type == "QuantizeLinear" and _is_undone(draft, source, node, read):
            value = source.input[0]
            is_known = value not in constants and all(name in constants for name in source.input[1:] if name)
            limits = _limits(source, read) if is_known else ()
            if limits:
                graph.initializer.extend(_make_clip(node, value, limits, draft.opset))
            elif node.output[0] in draft.outputs:  # keeps its name
                _make(node, "Identity", [value])
            else:
                renamed[node.output[0]] = value
                gone.add(id(node))
    _rename(graph, renamed)
    draft.replace_nodes(_used([node for node in graph.node if id(node) not in gone], draft.outputs))


def _is_undone(draft: Draft, quantize: "NodeProto", dequantize: "NodeProto", read: ConstantReader) -> bool:
    """Whether `dequantize` gives the numbers that `quantize` has taken, except for rounding: pairs of different scales,
    zero points, axes, blocks or types of numbers compute something else."""
    import numpy

    def is_same(index: int) -> bool:
        one, other = ((node.input[index] if len(node.input) > index else "") for node in (quantize, dequantize))
        if one == other or not {one, other} <= {*draft.constants, ""}:
            return one == other
        first, second = (read(name) if name else None for name in (one, other))
        if first is None or second is None:
            return not numpy.any(second if first is None else first)
        return first.dtype == second.dtype and numpy.array_equal(first, second)

    layouts = [{each.name: each.i for each in node.attribute if each.name in LAYOUT} for node in (quantize, dequantize)]
    is_one = quantize.input[1] in draft.constants and read(quantize.input[1]).size == 1
    if not (is_same(1) and is_same(2) and (is_one or layouts[0] == layouts[1])):
        return False
    values = (*draft.graph.input, *draft.graph.value_info, *draft.graph.output)
    ends = (quantize.input[0], dequantize.output[0])  # QuantizeLinear takes int32, too
    return len({value.type.tensor_type.elem_type for value in values if value.name in ends}) < 2


def _dequantized(node: "NodeProto", read: ConstantReader) -> "numpy.ndarray":
    """y = (x - zero_point) * scale, per tensor, per axis or per block (ONNX operator DequantizeLinear)."""
    import numpy

    attributes = {each.name: each.i for each in node.attribute}
    x, scale = read(node.input[0]), read(node.input[1])
    zero = read(node.input[2]) if len(node.input) > 2 and node.input[2] else numpy.zeros((), numpy.float32)
    axis = attributes.get("axis", 1)
    block = attributes.get("block_size", 0)

    def fitted(array: "numpy.ndarray") -> "numpy.ndarray":
        if array.size == 1 and array.ndim <= 1:
            return array.reshape(())
        if block:
            return numpy.repeat(array, block, axis=axis).take(range(x.shape[axis]), axis=axis)
        return array.reshape([-1 if dimension == axis % x.ndim else 1 for dimension in range(x.ndim)])

    y = (x.astype(numpy.float32) - fitted(zero).astype(numpy.float32)) * fitted(scale).astype(numpy.float32)
    return y.astype(scale.dtype)


def _limits(node: "NodeProto", read: ConstantReader) -> "tuple[numpy.ndarray, ...]":
    """Minimum and, if one holds for all channels, maximum that QuantizeLinear `node` lets through. Empty if negative
    numbers pass: then no Relu was dropped there."""
    import numpy
    from onnx import TensorProto, helper

    scale = read(node.input[1])
    said = next((each.i for each in node.attribute if each.name == "output_dtype" and each.i), int(TensorProto.UINT8))
    is_given = len(node.input) > 2 and node.input[2]
    zero = read(node.input[2]) if is_given else numpy.zeros((), helper.tensor_dtype_to_np_dtype(said))
    sign, _, bits = zero.dtype.name.partition("int")
    if not bits or (zero.astype(numpy.int64) != (0 if sign else -(2 ** (int(bits) - 1)))).any():
        return ()
    least = numpy.zeros((), scale.dtype)
    steps = 2 ** int(bits) - 1
    return (least,) if scale.size > 1 else (least, numpy.asarray(scale.reshape(()) * steps, scale.dtype))


def _make_clip(
    node: "NodeProto", value: str, limits: "tuple[numpy.ndarray, ...]", opset: int
) -> "Iterator[TensorProto]":
    """Makes `node` clip `value` to `limits`, and yields the constants that it then takes."""
    from onnx import helper, numpy_helper

    output = node.output[0]
    if opset < 11:
        _make(node, "Clip", [value])
        numbers = zip(("min", "max"), limits, strict=False)
        node.attribute.extend(helper.make_attribute(name, float(limit)) for name, limit in numbers)
        return
    names = [f"{output}_{name}" for name, _ in zip(("least", "greatest"), limits, strict=False)]
    _make(node, "Clip", [value, *names])
    yield from (numpy_helper.from_array(limit, name) for name, limit in zip(names, limits, strict=True))


def _make(node: "NodeProto", operator: str, inputs: list[str]) -> None:
    """Makes `node` an `operator` of ai.onnx without attributes."""
    node.op_type, node.domain = operator, ""
    node.input[:] = inputs
    del node.attribute[:]


def _rename(graph: "GraphProto", names: dict[str, str]) -> None:
    def final(name: str) -> str:
        while name in names:
            name = names[name]
        return name

    for node in graph.node:
        node.input[:] = [final(name) for name in node.input]
        for subgraph in traversal.subgraphs(node):
            _rename(subgraph, names)


def _used(nodes: "list[NodeProto]", outputs: frozenset[str]) -> "list[NodeProto]":
    """The nodes without unused QuantizeLinear and Constant nodes."""
    taken = {name for node in nodes for name in traversal.taken_by(node)} | outputs
    nodes = [node for node in nodes if node.op_type != "QuantizeLinear" or node.output[0] in taken]
    taken = {name for node in nodes for name in traversal.taken_by(node)} | outputs
    return [node for node in nodes if node.op_type != "Constant" or node.output[0] in taken]
