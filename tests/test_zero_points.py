"""Zero points that a model leaves to its reader are written out, with the type that they have."""

from pathlib import Path
from typing import Any

import numpy
import onnx
import pytest
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from packager.config import from_document
from packager.core.console import Console
from packager.graph.traversal import all_nodes
from packager.workflows import build
from packager.workflows.requested import BuildRequest
from tests.caches import empty_cache
from tests.onnx_text import compiled, loaded, onnx_model, saved
from tests.test_dequantized import run
from tests.toolchain.forks import forked

__all__ = ["forked"]

pytestmark = pytest.mark.by_content

TYPES = ("UINT8", "INT8", "UINT16", "INT16", "UINT4", "INT4", "FLOAT8E4M3FN", "FLOAT8E5M2")
LAYOUTS: dict[str, tuple[NDArray[Any], dict[str, int]]] = {
    "tensor": (numpy.array(0.05, numpy.float32), {}),
    "axis": (numpy.linspace(0.02, 0.09, 4, dtype=numpy.float32), {"axis": 0}),
    "block": (numpy.full((4, 2), 0.05, numpy.float32), {"axis": 1, "block_size": 4}),
}
X = numpy.random.default_rng(0).standard_normal((4, 8)).astype(numpy.float32)


def pair(element: int, scale: NDArray[Any], **layout: Any) -> onnx.ModelProto:
    """Rounds x to integers of the type `element`, without zero points."""
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "s"], ["q"], output_dtype=element, **layout),
        helper.make_node("DequantizeLinear", ["q", "s"], ["y"], **layout),
    ]
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [4, 8]) for name in "xy")
    graph = helper.make_graph(nodes, "g", [x], [y], [numpy_helper.from_array(scale, "s")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def types(model: onnx.ModelProto) -> list[str]:
    """Type of the zero point of every conversion."""
    constants = {each.name: each.data_type for each in model.graph.initializer}
    nodes = [node for node in all_nodes(model) if node.op_type in ("QuantizeLinear", "DequantizeLinear")]
    return [TensorProto.DataType.Name(constants[node.input[2]]) for node in nodes]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("kind", TYPES)
def test_a_zero_point_has_the_type_of_output_dtype(tmp_path: Path, kind: str, layout: str) -> None:
    scale, attributes = LAYOUTS[layout]
    model = pair(TensorProto.DataType.Value(kind), scale, **attributes)
    found = onnx.ModelProto.FromString(loaded(tmp_path, model).graph)
    assert types(found) == [kind, kind]
    assert not any(each.name == "output_dtype" for node in found.graph.node for each in node.attribute)
    (expected,), (ours,) = run(model, x=X), run(found, x=X)
    assert len(numpy.unique(expected)) > 4
    numpy.testing.assert_array_equal(ours, expected)


def test_it_has_unsigned_bytes_or_the_type_of_the_input_without_the_attribute(tmp_path: Path) -> None:
    model = onnx_model(
        """(float[2, 4] x, int8[2, 4] w, bool b) => (float[2, 4] y, float[2, 4] z, float[2, 4] u)
        <float s = {0.1}, int8 p = {0}, int32[4] bias = {1, 2, 3, 4}> {
            a = QuantizeLinear (x, s)
            y = DequantizeLinear (a, s)
            t = Transpose (w)
            v = Transpose (t)
            z = DequantizeLinear (v, s)
            u = If (b) <
                then_branch = t () => (float[2, 4] c) { i = QuantizeLinear (x, s, p) c = DequantizeLinear (i, s) },
                else_branch = e () => (float[2, 4] d) { i = QuantizeLinear (x, s) d = DequantizeLinear (i, s) }
            >
        }"""
    )
    found = onnx.ModelProto.FromString(loaded(tmp_path, model).graph)
    assert types(found) == ["UINT8", "UINT8", "INT8", "INT8", "INT8", "UINT8", "UINT8"]
    for condition in (True, False):
        feeds: dict[str, NDArray[Any]] = {
            "x": X[:2, :4],
            "w": (X[:2, 4:] * 40).astype(numpy.int8),
            "b": numpy.array(condition),
        }
        for expected, ours in zip(run(model, **feeds), run(found, **feeds), strict=True):
            numpy.testing.assert_array_equal(ours, expected)


def test_functions_get_theirs_in_the_graph(tmp_path: Path) -> None:
    function = """<opset_import: ["" : 21], domain: "own"> rounded (a, s) => (b) {
        q = QuantizeLinear <output_dtype = 3> (a, s)
        b = DequantizeLinear (q, s)
    }"""
    model = onnx_model(
        "(float[4, 8] x) => (float[4, 8] y) <float s = {0.1}> { h = own.rounded (x, s) y = own.rounded (h, s) }",
        opsets={"": 21, "own": 1},
        ir_version=10,
        functions=function,
    )
    found = onnx.ModelProto.FromString(loaded(tmp_path, model).graph)
    assert types(found) == ["INT8"] * 4
    numpy.testing.assert_array_equal(run(found, x=X)[0], run(model, x=X)[0])


def test_integers_of_32_bits_have_none(tmp_path: Path) -> None:
    model = onnx_model("(int32[4] x) => (float[4] y) <float s = {0.1}> { y = DequantizeLinear (x, s) }")
    found = onnx.ModelProto.FromString(loaded(tmp_path, model).graph)
    assert list(found.graph.node[0].input) == ["x", "s"]


def signed() -> onnx.ModelProto:
    """Convolutions between conversions to int8, without any zero point."""
    random = numpy.random.default_rng(0)
    weights = {
        f"w{number}": random.integers(-127, 127, (8, 8 if number else 3, 3, 3)).astype("i1") for number in (0, 1)
    }
    layers = [
        f"""q{number} = QuantizeLinear <output_dtype = 3> ({value}, s) d{number} = DequantizeLinear (q{number}, s)
        v{number} = DequantizeLinear <axis = 0> (w{number}, t)
        {made} = Conv <pads = [1, 1, 1, 1]> (d{number}, v{number})"""
        for number, value, made in ((0, "x", "c"), (1, "c", "y"))
    ]
    scales = {"s": numpy.array(0.03, numpy.float32), "t": numpy.full(8, 0.002, numpy.float32)}
    graph = f"(float[1, 3, 8, 8] x) => (float[1, 8, 8, 8] y) {{ {' '.join(layers)} }}"
    return onnx_model(graph, weights={**weights, **scales}, opsets={"": 21}, ir_version=10)


@pytest.mark.processes
@pytest.mark.parametrize("layout", ["axis", "block"])
def test_a_product_of_values_with_several_scales_is_not_fused_into_one_with_one_scale(
    tmp_path: Path, layout: str
) -> None:
    import onnxruntime

    scale, attributes = LAYOUTS[layout]
    spread = scale * numpy.linspace(0.5, 2, scale.size, dtype=numpy.float32).reshape(scale.shape)
    model = pair(TensorProto.INT8, spread, **attributes)
    weights = numpy.random.default_rng(2).integers(-127, 127, (8, 8)).astype(numpy.int8)
    model.graph.initializer.append(numpy_helper.from_array(weights, "w"))
    model.graph.initializer.append(numpy_helper.from_array(numpy.array(0.01, numpy.float32), "t"))
    model.graph.node[-1].output[:] = ["d"]
    model.graph.node.append(helper.make_node("DequantizeLinear", ["w", "t"], ["v"]))
    model.graph.node.append(helper.make_node("MatMul", ["d", "v"], ["y"]))
    (expected,) = run(model, x=X)
    (found,) = onnxruntime.InferenceSession(compiled(tmp_path, model).path).run(None, {"x": X})
    assert numpy.abs(found - expected).max() < 0.02 * numpy.abs(expected).max()


@pytest.mark.processes
def test_convolutions_between_conversions_without_zero_points_are_converted(tmp_path: Path) -> None:
    import onnxruntime

    x = numpy.random.default_rng(1).standard_normal((1, 3, 8, 8)).astype(numpy.float32)
    (expected,) = run(signed(), x=x)
    (found,) = onnxruntime.InferenceSession(compiled(tmp_path, signed()).path).run(None, {"x": x})
    assert numpy.abs(found - expected).max() < 0.02 * numpy.abs(expected).max()


@pytest.mark.environments
@pytest.mark.parametrize(
    ("target", "provider"), [("android", "nnapi"), ("android", "qnn"), ("android", "xnnpack"), ("ios", "coreml")]
)
def test_every_provider_gets_a_file_that_computes_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: str, provider: str
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(empty_cache(tmp_path / "cache")))
    path = saved(tmp_path / "net.onnx", signed())
    document = {
        "package": {"name": "any"},
        "model": {"net": {"path": str(path)}},
        "target": {target: {"providers": [provider]}},
    }
    config = from_document(document, tmp_path, targets=(), settings=())
    found = build.check(config, BuildRequest(targets=(target,), out=tmp_path / "dist"), Console(quiet=True))
    assert found.report.parities
    assert all(parity.max_rel_error < 0.05 for parity in found.report.parities)
