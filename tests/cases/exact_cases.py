"""Every operator that multiplies 8-bit numbers, and those of floats: `python -m tests.cases.exact_cases FOLDER`.

Writes what they give on the processor at hand, opened by `packager.engines.session.exact` (`exact.npz`) and as ONNX
Runtime does by itself (`plain.npz`).
"""

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy
import onnxruntime
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from packager.engines.session import exact

Array = NDArray[Any]
SCALE = numpy.float32(0.01)
STEP = numpy.float32(1.0)
PADS = {"pads": [1, 1, 1, 1]}
CONVOLUTIONS = {
    "3x3": ((16, 16, 3, 3), 1),
    "1x1": ((16, 16, 1, 1), 1),
    "depthwise": ((16, 1, 3, 3), 16),
    "grouped": ((16, 8, 3, 3), 2),
    "odd": ((5, 3, 3, 3), 1),
}
"""Shape of the weights, and groups."""
WAYS = {
    "as written": onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL,
    "optimized": onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL,
}


@dataclass(frozen=True, kw_only=True)
class Case:
    """One operator with constants and one input."""

    name: str
    op: str
    x: Array
    inputs: str
    """names of the inputs in order, `-` for one that is left out"""
    weights: Mapping[str, Array]
    element: int
    domain: str = ""
    attributes: Mapping[str, Any] = field(default_factory=dict)

    def model(self) -> bytes:
        names = ["" if each == "-" else each for each in self.inputs.split()]
        node = helper.make_node(self.op, names, ["y"], domain=self.domain, **self.attributes)
        graph = helper.make_graph(
            [node],
            "case",
            [helper.make_tensor_value_info("x", helper.np_dtype_to_tensor_dtype(self.x.dtype), self.x.shape)],
            [helper.make_tensor_value_info("y", self.element, None)],
            [numpy_helper.from_array(numpy.asarray(array), name) for name, array in self.weights.items()],
        )
        opsets = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
        content: bytes = helper.make_model(graph, ir_version=10, opset_imports=opsets).SerializeToString()
        return content


def large(kind: str, *shape: int) -> Array:
    """Numbers whose products are near the largest of 16 bits."""
    numbers = numpy.random.default_rng(len(shape) + sum(shape))
    if kind == "uint8":
        return numbers.integers(200, 256, shape, dtype=numpy.uint8)
    return numbers.integers(100, 128, shape, dtype=numpy.int8)


def normal(*shape: int) -> Array:
    return numpy.random.default_rng(sum(shape)).normal(size=shape).astype(numpy.float32)


def point(kind: str, value: int = 3) -> Array:
    return numpy.array(value, kind)


def products(x: str, w: str) -> Iterator[Case]:
    """Matrix products of `x` by `w`: kinds of 8-bit numbers."""
    of_x = TensorProto.UINT8 if x == "uint8" else TensorProto.INT8
    known = {"w": large(w, 64, 32), "s": SCALE, "t": STEP, "xz": point(x), "wz": point(w, 0)}
    told: dict[str, Any] = {"x": large(x, 4, 64), "weights": known}
    name = f"{x} {w}"
    yield Case(name=f"MatMulInteger {name}", op="MatMulInteger", inputs="x w xz wz", element=TensorProto.INT32, **told)
    yield Case(name=f"MatMulInteger bare {name}", op="MatMulInteger", inputs="x w", element=TensorProto.INT32, **told)
    yield Case(name=f"QLinearMatMul {name}", op="QLinearMatMul", inputs="x s xz w s wz t xz", element=of_x, **told)
    own = {**told, "domain": "com.microsoft"}
    yield Case(name=f"QGemm {name}", op="QGemm", inputs="x s xz w s wz - t xz", element=of_x, **own)
    to_float = "MatMulIntegerToFloat"
    yield Case(name=f"{to_float} {name}", op=to_float, inputs="x w s s xz wz", element=TensorProto.FLOAT, **own)


def convolutions(x: str, w: str) -> Iterator[Case]:
    of_x = TensorProto.UINT8 if x == "uint8" else TensorProto.INT8
    for name, (shape, groups) in CONVOLUTIONS.items():
        picture = large(x, 1, shape[1] * groups, 9, 9)
        points = numpy.full(shape[0], 0, w)
        scales = numpy.linspace(0.005, 0.01, shape[0], dtype=numpy.float32)
        weights = {"w": large(w, *shape), "s": SCALE, "v": scales, "t": STEP, "xz": point(x), "wz": points}
        given: dict[str, Any] = {"weights": weights, "attributes": {"group": groups, **PADS}}
        inputs = "x s xz w v wz t xz"
        linear: dict[str, Any] = {"op": "QLinearConv", "inputs": inputs, "element": of_x}
        yield Case(name=f"QLinearConv {name} {x} {w}", x=picture, **linear, **given)
        last = numpy.ascontiguousarray(picture.transpose(0, 2, 3, 1))
        given["attributes"] = {"group": groups, "channels_last": 1, **PADS}
        yield Case(name=f"com.microsoft.QLinearConv {name} {x} {w}", domain="com.microsoft", x=last, **linear, **given)
        given = {"weights": {**weights, "wz": point(w, 0)}, "attributes": {"group": groups, **PADS}}
        integer: dict[str, Any] = {"op": "ConvInteger", "inputs": "x w xz wz", "element": TensorProto.INT32}
        yield Case(name=f"ConvInteger {name} {x} {w}", x=picture, **integer, **given)


def own(w: str) -> Iterator[Case]:
    """ONNX Runtime's own operators that quantize their inputs, or compute whole layers."""
    given: dict[str, Any] = {"domain": "com.microsoft", "element": TensorProto.FLOAT}
    dynamic: dict[str, Array] = {"w": large(w, 64, 32), "s": numpy.array(SCALE), "wz": point(w, 0)}
    name = "DynamicQuantizeMatMul"
    yield Case(name=f"{name} {w}", op=name, x=normal(4, 64), inputs="x w s wz", weights=dynamic, **given)
    yield Case(name=f"{name} bare {w}", op=name, x=normal(4, 64), inputs="x w s", weights=dynamic, **given)
    small = numpy.array([1e-3], numpy.float32)
    layer: dict[str, Array] = {"w": large(w, 1, 16, 64), "r": large(w, 1, 16, 64), "s": small, "z": numpy.zeros(1, w)}
    inputs = "x w r - - - - - s z s z"
    hidden = {"hidden_size": 16}
    name = "DynamicQuantizeLSTM"
    numbers = normal(5, 2, 16) / 1000
    yield Case(name=f"{name} {w}", op=name, x=numbers, inputs=inputs, weights=layer, attributes=hidden, **given)
    attention: dict[str, Array] = {
        "w": large(w, 16, 48),
        "b": numpy.zeros(48, numpy.float32),
        "s": numpy.array(1e-3, "float32"),
        "m": numpy.array([5], numpy.int32),
        "xz": point("uint8"),
        "wz": point(w, 0),
    }
    x, heads = large("uint8", 1, 5, 16), {"num_heads": 2}
    inputs = "x w b s s m xz wz"
    name = "QAttention"
    yield Case(name=f"{name} {w}", op=name, x=x, inputs=inputs, weights=attention, attributes=heads, **given)


def floats() -> Iterator[Case]:
    """Operators whose kernels depend on the width of vectors."""
    given: dict[str, Any] = {"element": TensorProto.FLOAT}
    x = normal(6, 101) * 3
    for op in ("Softmax", "LogSoftmax"):
        for axis in (0, 1):
            yield Case(name=f"{op} {axis}", op=op, x=x, inputs="x", weights={}, attributes={"axis": axis}, **given)
    for op in ("Exp", "Erf", "Tanh", "Sigmoid", "Gelu", "Softplus"):
        yield Case(name=op, op=op, x=x, inputs="x", weights={}, **given)
    halves: dict[str, Any] = {"x": x.astype(numpy.float16), "element": TensorProto.FLOAT16}
    yield Case(name="Softmax of 16 bits", op="Softmax", inputs="x", weights={}, **halves)
    for rows, inner, columns in ((1, 1000, 333), (7, 300, 257), (128, 1111, 200)):
        name = f"MatMul {rows}x{inner}x{columns}"
        weights = {"w": normal(inner, columns)}
        yield Case(name=name, op="MatMul", x=normal(rows, inner), inputs="x w", weights=weights, **given)
    for name, (shape, groups) in CONVOLUTIONS.items():
        picture, told = normal(1, shape[1] * groups, 15, 15), {"group": groups, **PADS}
        weights = {"w": normal(*shape)}
        yield Case(name=f"Conv {name}", op="Conv", x=picture, inputs="x w", weights=weights, attributes=told, **given)
    weights = {"w": normal(1, 128, 24), "r": normal(1, 128, 32)}
    hidden = {"hidden_size": 32}
    yield Case(name="LSTM", op="LSTM", x=normal(7, 2, 24), inputs="x w r", weights=weights, attributes=hidden, **given)
    norm = {"w": normal(101), "b": normal(101)}
    yield Case(name="LayerNormalization", op="LayerNormalization", x=x, inputs="x w b", weights=norm, **given)
    for op in ("ReduceMean", "ReduceSum", "ReduceL2"):
        axes = {"axes": numpy.array([1])}
        yield Case(name=op, op=op, x=x, inputs="x axes", weights=axes, **given)


def blocks() -> Iterator[Case]:
    """Weights in blocks of few bits; with level 4, activations become 8-bit ones."""
    numbers = numpy.random.default_rng(0)
    given: dict[str, Any] = {"op": "MatMulNBits", "domain": "com.microsoft", "element": TensorProto.FLOAT}
    for bits in (2, 4, 8):
        for level in (0, 1, 4):
            attributes = {"K": 256, "N": 32, "bits": bits, "block_size": 32, "accuracy_level": level}
            weights: dict[str, Array] = {
                "w": numbers.integers(0, 256, (32, 8, 4 * bits), dtype=numpy.uint8),
                "s": numbers.uniform(0.001, 0.01, 32 * 8).astype(numpy.float32),
            }
            name, x = f"MatMulNBits {bits} {level}", normal(2, 3, 256)
            yield Case(name=name, x=x, inputs="x w s", weights=weights, attributes=attributes, **given)


def cases() -> Iterator[Case]:
    for x in ("uint8", "int8"):
        for w in ("uint8", "int8"):
            if (x, w) != ("int8", "uint8"):  # for which most have no kernel
                yield from products(x, w)
                yield from convolutions(x, w)
    yield from (each for each in convolutions("int8", "uint8") if each.op == "ConvInteger")
    yield from (each for each in products("int8", "uint8") if each.op == "MatMulInteger")
    for w in ("uint8", "int8"):
        yield from own(w)
    yield from floats()
    yield from blocks()


def unlike_products() -> set[str]:
    """Names of the cases that may differ in bits from ONNX Runtime's own results."""
    return {each.name for each in (*floats(), *blocks())}


def found(*, is_exact: bool) -> dict[str, Array]:
    """Outputs of every case, as written and optimized."""
    return {f"{each.name}, {way}": given(each, way, is_exact=is_exact) for each in cases() for way in WAYS}


def given(case: Case, way: str, *, is_exact: bool) -> Array:
    def options() -> onnxruntime.SessionOptions:
        made = onnxruntime.SessionOptions()
        made.intra_op_num_threads = 1
        made.log_severity_level = 4
        made.graph_optimization_level = WAYS[way]
        return made

    if is_exact:
        session = exact.opened(case.model(), "", options)
    else:
        session = onnxruntime.InferenceSession(case.model(), options(), providers=["CPUExecutionProvider"])
    return numpy.asarray(session.run(None, {"x": case.x})[0])


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    for kind in ("exact", "plain"):
        numpy.savez(folder / f"{kind}.npz", allow_pickle=False, **found(is_exact=kind == "exact"))
