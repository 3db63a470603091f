"""Small random nets: layers of every form, residuals, shared weights, and exporters' peculiarities."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy
import onnx
from hypothesis import strategies
from onnx import TensorProto, helper, numpy_helper

from tests.cases.rewriting_cases import Array

Shape = tuple[int, ...]
Draw = Callable[[strategies.SearchStrategy[Any]], Any]
ODDITIES = ("constant nodes", "old inputs", "defaults", "no names", "our names")


@dataclass
class Net:
    """A graph as it grows."""

    draw: Draw
    generator: numpy.random.Generator
    oddity: str
    nodes: list[onnx.NodeProto] = field(default_factory=list)
    weights: dict[str, Array] = field(default_factory=dict)
    values: dict[str, Shape] = field(default_factory=dict)

    def pick(self, *choices: Any) -> Any:
        return self.draw(strategies.sampled_from(choices))

    def weight(self, *shape: int, scale: float | None = None) -> str:
        """A constant, sometimes an existing one."""
        same = [name for name, each in self.weights.items() if each.shape == shape and each.dtype == numpy.float32]
        if same and self.pick(True, False, False):
            return same[0]
        spread = scale or float(numpy.prod(shape[1:]) or 1) ** -0.5
        name = f"x{len(self.values)}_scale" if self.oddity == "our names" and self.pick(True, False) else ""
        name = name if name and name not in self.weights else f"w{len(self.weights)}"
        self.weights[name] = (self.generator.standard_normal(shape) * spread).astype(numpy.float32)
        return name

    def integers(self, *numbers: int) -> str:
        name = f"i{len(self.weights)}"
        self.weights[name] = numpy.array(numbers, numpy.int64)
        return name

    def node(self, operator: str, inputs: list[str], shape: Shape, **attributes: Any) -> str:
        output = f"v{len(self.values)}"
        if self.oddity == "our names" and self.values:
            output = f"x_{self.pick('quantized', 'scale', 'float', 'dequantized')}_{len(self.values)}"
        name = "" if self.oddity == "no names" else f"n{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, inputs, [output], name, **attributes))
        self.values[output] = shape
        return output

    def any_value(self, rank: int | None = None) -> str:
        names = [name for name, shape in self.values.items() if rank is None or len(shape) == rank]
        return str(self.pick(*names[-3:]))


def convolution(net: Net, value: str) -> str:
    shape = net.values[value]
    channels, space = shape[1], len(shape) - 2
    group = net.pick(1, channels, 2 if channels % 2 == 0 else 1)
    outputs = channels * net.pick(1, 2) if channels < 8 else channels
    stride = net.pick(1, 2)
    bias = [net.weight(outputs, scale=0.5)] if net.pick(True, False) else []
    weight = net.weight(outputs, channels // group, *[3] * space)
    spatial = tuple(-(-size // stride) for size in shape[2:])
    pads = {"pads": [1] * 2 * space} if net.pick(True, False) or stride == 2 else {"auto_pad": "SAME_UPPER"}
    sizes = {"strides": [stride] * space, "group": group, "kernel_shape": [3] * space}
    return net.node("Conv", [value, weight, *bias], (shape[0], outputs, *spatial), **sizes, **pads)


def transposed_convolution(net: Net, value: str) -> str:
    shape = net.values[value]
    channels, space = shape[1], len(shape) - 2
    group = net.pick(1, 2 if channels % 2 == 0 else 1)
    bias = [net.weight(channels, scale=0.5)] if net.pick(True, False) else []
    weight = net.weight(channels, channels // group, *[2] * space)
    spatial = tuple(2 * size for size in shape[2:])
    if space == 3 or max(spatial) > 16:
        return value
    return net.node(
        "ConvTranspose", [value, weight, *bias], (shape[0], channels, *spatial), strides=[2] * space, group=group
    )


def gemm(net: Net, value: str) -> str:
    rows, columns = net.values[value]
    is_turned = rows == columns and net.pick(True, False)
    is_transposed, width = net.pick(True, False), net.pick(3, 8, columns)
    weight = net.weight(*((width, columns) if is_transposed else (columns, width)))
    bias = [net.weight(width, scale=0.5)] if net.pick(True, False) else []
    return net.node("Gemm", [value, weight, *bias], (rows, width), transA=int(is_turned), transB=int(is_transposed))


def matmul(net: Net, value: str) -> str:
    shape = net.values[value]
    width = net.pick(4, shape[-1])
    batch = shape[:1] if len(shape) == 3 and net.pick(True, False) else ()
    return net.node("MatMul", [value, net.weight(*batch, shape[-1], width)], (*shape[:-1], width))


def binary(net: Net, value: str) -> str:
    """A binary operator with another value, itself, or a constant."""
    shape = net.values[value]
    same = [name for name, each in net.values.items() if each == shape]
    other = net.pick(*same[-2:], net.weight(*shape[1:], scale=1.0), net.weight(1, scale=1.0))
    operands = [value, other] if net.pick(True, False) else [other, value]
    return net.node(net.pick("Add", "Mul", "Sub"), operands, shape)


def activation(net: Net, value: str) -> str:
    operator = net.pick("Relu", "Sigmoid", "LeakyRelu", "Clip", "Tanh", "HardSwish")
    if operator != "Clip":
        return net.node(operator, [value], net.values[value])
    low, high = net.pick((0.0, 6.0), (-1.0, 1.0), (0.0, 1e3), (0.5, 2.0))
    names = [f"limit{len(net.weights)}", f"limit{len(net.weights) + 1}"]
    net.weights |= {name: numpy.array(number, numpy.float32) for name, number in zip(names, (low, high), strict=True)}
    return net.node("Clip", [value, *names], net.values[value])


def concat(net: Net, value: str) -> str:
    shape = net.values[value]
    same = [name for name, each in net.values.items() if each == shape]
    if shape[1] > 8:
        return value
    return net.node("Concat", [value, net.pick(*same)], (shape[0], 2 * shape[1], *shape[2:]), axis=1)


def pool(net: Net, value: str) -> str:
    shape = net.values[value]
    operator = net.pick("MaxPool", "AveragePool", "GlobalAveragePool")
    if operator == "GlobalAveragePool":
        return net.node(operator, [value], (*shape[:2], *[1] * (len(shape) - 2)))
    if min(shape[2:]) < 2:
        return value
    sizes = {"kernel_shape": [2] * (len(shape) - 2), "strides": [2] * (len(shape) - 2)}
    return net.node(operator, [value], (*shape[:2], *(size // 2 for size in shape[2:])), **sizes)


def moved(net: Net, value: str) -> str:
    """An operator that moves elements."""
    shape = net.values[value]
    operator = net.pick("Transpose", "Flatten", "Slice", "Split", "Reshape", "Resize", "DepthToSpace", "Gather")
    if operator == "Flatten" and len(shape) > 2:
        return net.node("Flatten", [value], (shape[0], int(numpy.prod(shape[1:]))))
    if operator == "Reshape":
        return net.node("Reshape", [value, net.integers(shape[0], -1)], (shape[0], int(numpy.prod(shape[1:]))))
    if operator == "Slice" and shape[1] > 2:
        taken = net.integers(1), net.integers(shape[1]), net.integers(1)
        return net.node("Slice", [value, *taken], (shape[0], shape[1] - 1, *shape[2:]))
    if operator == "Split" and shape[1] % 2 == 0:
        half = (shape[0], shape[1] // 2, *shape[2:])
        first = net.node("Split", [value, net.integers(shape[1] // 2, shape[1] // 2)], half, axis=1)
        net.nodes[-1].output.append(f"{first}_second")
        net.values[f"{first}_second"] = half
        return first
    if operator == "Resize" and len(shape) == 4 and shape[2] < 16:
        net.weights[f"scales{len(net.weights)}"] = numpy.array([1, 1, 2, 2], numpy.float32)
        mode = net.pick("nearest", "linear", "cubic")
        inputs = [value, "", list(net.weights)[-1]]
        return net.node("Resize", inputs, (*shape[:2], 2 * shape[2], 2 * shape[3]), mode=mode)
    if operator == "DepthToSpace" and len(shape) == 4 and shape[1] % 4 == 0:
        return net.node(operator, [value], (shape[0], shape[1] // 4, 2 * shape[2], 2 * shape[3]), blocksize=2)
    if operator == "Gather":
        return net.node("Gather", [value, net.integers(0, 0)], (shape[0], 2, *shape[2:]), axis=1)
    order = [0, *range(len(shape) - 1, 0, -1)]
    return net.node("Transpose", [value], tuple(shape[axis] for axis in order), perm=order)


def other(net: Net, value: str) -> str:
    """Operators that neural processors quantize and the CPU does not."""
    shape = net.values[value]
    operator = net.pick("Softmax", "LayerNormalization", "ReduceMax", "Erf", "Abs", "Pow", "Min", "PRelu", "Neg")
    if operator == "LayerNormalization":
        return net.node(operator, [value, net.weight(shape[-1]), net.weight(shape[-1])], shape, axis=-1)
    if operator == "ReduceMax":
        return net.node("ReduceMean", [value], (1,) * len(shape), keepdims=1)
    if operator == "Pow":
        net.weights[f"power{len(net.weights)}"] = numpy.array(2, numpy.float32)
        return net.node("Pow", [value, list(net.weights)[-1]], shape)
    if operator == "Min":
        return net.node("Min", [value, net.weight(1)], shape)
    if operator == "PRelu":
        return net.node("PRelu", [value, net.weight(1, scale=0.3)], shape)
    return net.node(operator, [value], shape)


IMAGES = (convolution, convolution, transposed_convolution, binary, activation, concat, pool, moved, moved, other)
ROWS = (gemm, gemm, matmul, binary, activation, concat, moved, other)
SEQUENCES = (matmul, matmul, binary, activation, concat, moved, other)


def grow(net: Net, steps: int, rank: int) -> None:
    for _ in range(steps):
        value = net.any_value()
        kinds = {2: ROWS, 3: IMAGES if rank == 3 else SEQUENCES}.get(len(net.values[value]), IMAGES)
        net.pick(*kinds)(net, value)


@strategies.composite
def nets(draw: Draw, steps: int = 6) -> onnx.ModelProto:
    net = Net(draw=draw, generator=numpy.random.default_rng(draw(strategies.integers(0, 99))), oddity="")
    net.oddity = net.pick("", *ODDITIES)
    shape = net.pick((1, 4, 8, 8), (2, 4, 12), (1, 2, 4, 4, 4), (3, 8), (8, 8), (2, 3, 8))
    net.values["x"] = shape
    first = {2: gemm, 3: convolution if shape[1] == 4 else matmul}.get(len(shape), convolution)
    first(net, "x")
    grow(net, draw(strategies.integers(0, steps)), len(shape) if shape[1] == 4 else 0)
    return finished(net, shape)


def finished(net: Net, shape: Shape) -> onnx.ModelProto:
    """Make values that no node takes outputs, sometimes also one in the middle."""
    taken = {name for node in net.nodes for name in node.input}
    made = [name for name in net.values if name != "x"]
    outputs = [name for name in made if name not in taken or (name == made[0] and net.pick(True, False))]
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)]
    initializers = [numpy_helper.from_array(array, name) for name, array in net.weights.items()]
    if net.oddity in ("old inputs", "defaults"):
        inputs += [helper.make_tensor_value_info(each.name, each.data_type, each.dims) for each in initializers]
    if net.oddity == "constant nodes":
        net.nodes[:0] = [helper.make_node("Constant", [], [each.name], value=each) for each in initializers]
        initializers = []
    graph = helper.make_graph(
        net.nodes,
        "g",
        inputs,
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, net.values[name]) for name in outputs],
        initializers,
    )
    opset = net.pick(17, 21)
    ir_version = 3 if net.oddity == "old inputs" else 10
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=ir_version)
