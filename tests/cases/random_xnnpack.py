"""Random nets of the layers that XNNPACK takes, and of those between them."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.shape_inference import infer_shapes

from tests.cases.xnnpack_cases import Array

Shape = tuple[int, ...]
Value = tuple[str, Shape]
CHANNELS, SIZE = 4, 8


@dataclass
class Net:
    """A graph as it grows."""

    rng: random.Random
    generator: numpy.random.Generator
    opset: int
    nodes: list[onnx.NodeProto] = field(default_factory=list)
    weights: dict[str, Array] = field(default_factory=dict)
    values: list[Value] = field(default_factory=list)

    def weight(self, *shape: int) -> str:
        return self.constant((self.generator.standard_normal(shape) * 0.3).astype(numpy.float32))

    def constant(self, array: Any, kind: Any = numpy.float32) -> str:
        name = f"w{len(self.weights)}"
        self.weights[name] = numpy.asarray(array, getattr(array, "dtype", kind))
        return name

    def add(self, op: str, inputs: list[str], shape: Shape, **attributes: Any) -> None:
        output = f"v{len(self.values)}"
        self.nodes.append(helper.make_node(op, inputs, [output], f"{op}.{len(self.nodes)}", **attributes))
        self.values.append((output, shape))


def convolution(net: Net, x: str, shape: Shape) -> None:
    batch, channels, *sizes = shape
    filters, kernel, stride = net.rng.choice((4, 8)), net.rng.choice((1, 3)), net.rng.choice((1, 1, 2))
    inputs = [x, net.weight(filters, channels, kernel, kernel)]
    inputs += [net.weight(filters)] if net.rng.random() < 0.5 else []
    pads = {"pads": [kernel // 2] * 4} if net.rng.random() < 0.7 else {"auto_pad": "SAME_UPPER"}
    if kernel < stride:
        pads = {"pads": [0] * 4}
    out = tuple((size - 1) // stride + 1 for size in sizes)
    net.add("Conv", inputs, (batch, filters, *out), strides=[stride] * 2, **pads)


def depthwise(net: Net, x: str, shape: Shape) -> None:
    channels = shape[1]
    net.add("Conv", [x, net.weight(channels, 1, 3, 3), net.weight(channels)], shape, pads=[1] * 4, group=channels)


def transposed(net: Net, x: str, shape: Shape) -> None:
    batch, channels, height, width = shape
    inputs = [x, net.weight(channels, 4, 2, 2)]
    net.add("ConvTranspose", inputs, (batch, 4, height * 2, width * 2), strides=[2, 2])


def pool(net: Net, x: str, shape: Shape) -> None:
    batch, channels, height, width = shape
    op = net.rng.choice(("MaxPool", "AveragePool"))
    net.add(op, [x], (batch, channels, height // 2, width // 2), kernel_shape=[2, 2], strides=[2, 2])


def whole(net: Net, x: str, shape: Shape) -> None:
    net.add("GlobalAveragePool", [x], (*shape[:2], 1, 1))


def resize(net: Net, x: str, shape: Shape) -> None:
    batch, channels, height, width = shape
    scales = net.constant(numpy.array([1, 1, 2, 2], numpy.float32))
    mode = net.rng.choice(("linear", "nearest"))
    net.add("Resize", [x, "", scales], (batch, channels, height * 2, width * 2), mode=mode)


def classifier(net: Net, x: str, shape: Shape) -> None:
    count = int(numpy.prod(shape[1:]))
    net.add("Flatten", [x], (shape[0], count))
    net.add("Gemm", [net.values[-1][0], net.weight(6, count), net.weight(6)], (shape[0], 6), transB=1)


def concatenation(net: Net, x: str, shape: Shape) -> None:
    others = [(name, each) for name, each in net.values if len(each) == 4 and each[2:] == shape[2:]]
    name, other = net.rng.choice(others)
    net.add("Concat", [x, name], (shape[0], shape[1] + other[1], *shape[2:]), axis=1)


def padding(net: Net, x: str, shape: Shape) -> None:
    pads = net.constant(numpy.array([0, 0, 1, 1, 0, 0, 1, 1], numpy.int64))
    net.add("Pad", [x, pads], (*shape[:2], shape[2] + 2, shape[3] + 2))


def turned(net: Net, x: str, shape: Shape) -> None:
    net.add("Transpose", [x], (shape[0], *shape[2:], shape[1]), perm=[0, 2, 3, 1])


def activation(net: Net, x: str, shape: Shape) -> None:
    low, high = net.constant(0.0), net.constant(6.0)
    op, more = net.rng.choice((("Relu", []), ("Clip", [low, high]), ("Clip", [low]), ("Clip", ["", high]), ("Erf", [])))
    net.add(op, [x, *more], shape)


def swish(net: Net, x: str, shape: Shape) -> None:
    net.add("Sigmoid", [x], shape)
    net.add("Mul", [x, net.values[-1][0]], shape)


def total(net: Net, x: str, shape: Shape) -> None:
    same = [name for name, each in net.values if each == shape]
    net.add("Add", [x, net.rng.choice(same)], shape)


def softmax(net: Net, x: str, shape: Shape) -> None:
    net.add("Softmax", [x], shape, axis=net.rng.choice((-1, 1)))


def product(net: Net, x: str, shape: Shape) -> None:
    net.add("MatMul", [x, net.weight(shape[-1], 5)], (*shape[:-1], 5))


Layer = Callable[[Net, str, Shape], None]
IMAGES: tuple[Layer, ...] = (
    convolution, convolution, convolution, depthwise, transposed, pool, whole, resize, classifier, concatenation,
    padding, turned,
)  # fmt: skip
ANY: tuple[Layer, ...] = (activation, activation, swish, total, softmax, product)


def drawn(seed: int) -> onnx.ModelProto:
    """A net of two to eight layers, for a batch of any size or of one."""
    rng = random.Random(seed)
    net = Net(rng=rng, generator=numpy.random.default_rng(seed), opset=rng.choice((13, 17, 18, 21)))
    net.values.append(("x", (1, CHANNELS, SIZE, SIZE)))
    for _ in range(rng.randrange(2, 9)):
        x, shape = rng.choice(net.values[-3:])
        is_image = len(shape) == 4 and min(shape[2:]) > 1 and max(shape) < 40
        rng.choice((*IMAGES, *ANY) if is_image else ANY)(net, x, shape)
    used = {name for node in net.nodes for name in node.input}
    outputs = [name for name, _ in net.values if name not in used]
    outputs += [rng.choice(net.values[1:])[0]] if rng.random() < 0.2 else []
    batch = "N" if rng.random() < 0.3 else 1
    graph = helper.make_graph(
        net.nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [batch, CHANNELS, SIZE, SIZE])],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in dict.fromkeys(outputs)],
        [numpy_helper.from_array(array, name) for name, array in net.weights.items()],
    )
    opsets = [helper.make_opsetid("", net.opset)]
    return infer_shapes(helper.make_model(graph, opset_imports=opsets, ir_version=10 if net.opset > 20 else 8))
