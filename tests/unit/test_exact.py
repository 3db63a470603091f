"""Models for comparison compute the same on every x86 processor: checked on this one and on an emulated Haswell."""

import os
import platform
from collections.abc import Callable
from pathlib import Path

import numpy
import onnx
import onnxruntime
import pytest
from onnx import external_data_helper

from packager.engines.session import exact
from packager.engines.session.exact import blocks, opening, products
from tests.cases import exact_cases, haswell
from tests.cases.exact import Array, Numbers, different, exact_here, names
from tests.cases.onnx_text import onnx_model, saved
from tests.engines.test_assign import ort_format

__all__ = ["exact_here"]


A = numpy.full((2, 64), 255, numpy.uint8)

W = numpy.full((64, 16), 127, numpy.int8)


def options(*, is_optimized: bool = False) -> Callable[[], onnxruntime.SessionOptions]:
    levels = onnxruntime.GraphOptimizationLevel

    def made() -> onnxruntime.SessionOptions:
        given = onnxruntime.SessionOptions()
        given.log_severity_level = 4
        given.graph_optimization_level = levels.ORT_ENABLE_ALL if is_optimized else levels.ORT_DISABLE_ALL
        return given

    return made


def run(model: onnx.ModelProto | Path, x: Array, folder: Path | None = None, *, is_optimized: bool = False) -> Array:
    content = model.SerializeToString() if isinstance(model, onnx.ModelProto) else model
    session = exact.opened(content, str(folder or ""), options(is_optimized=is_optimized))
    return numpy.asarray(session.run(None, {"x": x})[0])


def test_eight_bit_numbers_are_exact_without_saturation(exact_here: Numbers) -> None:
    """On a processor that saturates, there is nothing to compare with: its flags must say so."""
    flags = Path("/proc/cpuinfo")
    if flags.is_file() and platform.machine() == "x86_64" and haswell.EMULATED not in os.environ:
        has_none = not {"avx512_vnni", "avx_vnni"} & set(flags.read_text().split())
        assert exact.saturates() is has_none
    found = exact_cases.found(is_exact=False)
    if not exact.saturates():
        assert names(different(found, exact_here)) <= exact_cases.unlike_products()
        for name in found:
            numpy.testing.assert_allclose(exact_here[name], found[name], rtol=1e-4, atol=1e-6 * abs(found[name]).max())


SCOPES = {
    "a constant": "(uint8[2,64] x) => (int32[2,16] y) { y = MatMulInteger (x, w) }",
    "a computed value": "(uint8[2,64] x) => (int32[2,16] y) { v = Identity (w) y = MatMulInteger (x, v) }",
    "a constant that two take": """(uint8[2,64] x) => (int32[2,16] y) {
        a = MatMulInteger (x, w) f = Cast <to = 6> (w) g = Cast <to = 6> (x) b = MatMul (g, f) c = Sub (b, a)
        y = Add (a, c)
    }""",
    "a constant outside of a branch": """(uint8[2,64] x) => (int32[2,16] y) {
        y = If (yes) <
            then_branch = g1 () => (int32[2,16] a) { a = MatMulInteger (x, w) },
            else_branch = g2 () => (int32[2,16] b) { b = MatMulInteger (x, w) }
        >
    }""",
    "a reshaped operand": """(uint8[2,64] x) => (int32[2,16] y) {
        f = Cast <to = 1> (x) q, s, z = DynamicQuantizeLinear (f) r = Transpose <perm = [1,0]> (q)
        t = Transpose <perm = [1,0]> (r) y = MatMulInteger (t, w, z)
    }""",
}


@pytest.mark.parametrize("is_optimized", [False, True])
@pytest.mark.parametrize("scope", SCOPES)
def test_weights_are_found_wherever_they_are(scope: str, is_optimized: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "saturates", lambda: True)
    model = onnx_model(SCOPES[scope], weights={"w": W, "yes": numpy.array(True)})
    assert (run(model, A, is_optimized=is_optimized) == 64 * 255 * 127).all()


@pytest.mark.parametrize("is_optimized", [False, True])
def test_weights_beside_the_graph_are_rewritten(
    is_optimized: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "saturates", lambda: True)
    model = onnx_model(SCOPES["a constant"], weights={"w": W})
    external_data_helper.convert_model_to_external_data(model, location="w.bin", size_threshold=0)
    onnx.save(model, tmp_path / "model.onnx")
    model = onnx.load(tmp_path / "model.onnx", load_external_data=False)
    assert (run(model, A, tmp_path, is_optimized=is_optimized) == 64 * 255 * 127).all()
    assert (run(tmp_path / "model.onnx", A, is_optimized=is_optimized) == 64 * 255 * 127).all()


FUNCTIONS = """
    <domain: "own", opset_import: ["" : VERSION]> product (a, b) => (c) { d = Identity (b) c = MatMulInteger (a, d) }
    <domain: "own", opset_import: ["" : VERSION]> shares (a) => (b) { b = Softmax (a) }
"""


@pytest.mark.parametrize("is_optimized", [False, True])
def test_operators_in_functions_are_rewritten(is_optimized: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "saturates", lambda: True)
    opsets = {"": 17, "own": 1}
    functions = FUNCTIONS.replace("VERSION", "17")
    text = "(uint8[2,64] x) => (int32[2,16] y) { y = own.product (x, w) }"
    model = onnx_model(text, weights={"w": W}, opsets=opsets, functions=functions)
    assert (run(model, A, is_optimized=is_optimized) == 64 * 255 * 127).all()
    model = onnx_model("(float[3,40] x) => (float[3,40] y) { y = own.shares (x) }", opsets=opsets, functions=functions)
    x = numpy.random.default_rng(0).normal(size=(3, 40)).astype(numpy.float32)
    power = numpy.exp(x.astype(numpy.float64))
    expected = (power / power.sum(axis=1, keepdims=True)).astype(numpy.float32)
    assert numpy.array_equal(run(model, x, is_optimized=is_optimized), expected)


def test_a_function_of_another_operator_set_and_a_file_without_products_are_opened_as_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    functions = FUNCTIONS.replace("VERSION", "13")
    model = onnx_model(
        "(float[3,40] x) => (float[3,40] y) { y = own.shares (x) }", opsets={"": 17, "own": 1}, functions=functions
    )
    assert abs(run(model, numpy.zeros((3, 40), numpy.float32)) - 1 / 40).max() < 1e-7
    monkeypatch.setattr(opening, "_written", lambda *given: pytest.fail("it was written anew"))
    path = ort_format(
        saved(tmp_path / "m.onnx", onnx_model("(float[4] x) => (float[4] y) { y = Relu (x) }")), is_fused=True
    )
    assert run(path, numpy.ones(4, numpy.float32)).tolist() == [1, 1, 1, 1]


def test_a_file_in_ort_format_is_rewritten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "saturates", lambda: True)
    written: list[int] = []
    rewrite = products.unsaturated

    def counted(proto: onnx.ModelProto, folder: Path) -> bool:
        written.append(len(proto.graph.node))
        return rewrite(proto, folder)

    monkeypatch.setattr(products, "unsaturated", counted)
    path = ort_format(saved(tmp_path / "m.onnx", onnx_model(SCOPES["a constant"], weights={"w": W})), is_fused=True)
    assert (run(path, A) == 64 * 255 * 127).all()
    assert written == [1]


def test_branches_in_ort_format_get_the_names_that_it_does_not_keep(tmp_path: Path) -> None:
    graph = """(float[4] x, bool c) => (float[4] y) { y = If (c) <
        then_branch = one () => (float[4] p) { p = Softmax (x) }, else_branch = two () => (float[4] q) { q = Neg (x) }>
    }"""
    path = ort_format(saved(tmp_path / "m.onnx", onnx_model(graph)), is_fused=True)
    session = exact.opened(path, "", options())
    (found,) = session.run(None, {"x": numpy.zeros(4, numpy.float32), "c": numpy.array(True)})
    assert found.tolist() == [0.25] * 4


def test_softmax_is_computed_in_64_bits_whatever_it_takes() -> None:
    for opset in [11, 13, 17]:
        for element in ["float", "float16", "double"]:
            text = (
                f"({element}[3,40] x) => ({element}[3,40] y) {{ n = Neg (x) m = Neg (n) y = Softmax <axis = 1> (m) }}"
            )
            x = (
                numpy.random.default_rng(0)
                .normal(size=(3, 40))
                .astype({"float": "f4", "float16": "f2", "double": "f8"}[element])
            )
            found = run(onnx_model(text, opsets={"": opset}), x)
            power = numpy.exp(x.astype(numpy.float64))
            expected = (power / power.sum(axis=1, keepdims=True)).astype(x.dtype)
            assert found.dtype == x.dtype
            if element == "double":
                numpy.testing.assert_allclose(found, expected, rtol=1e-14)
            else:
                assert numpy.array_equal(found, expected)


def test_softmax_of_quantized_numbers_stays_an_8_bit_operator(tmp_path: Path) -> None:
    text = """(uint8[1,40] x) => (uint8[1,40] y) {
        d = DequantizeLinear (x, s, z) f = Softmax (d) y = QuantizeLinear (f, t, z)
    }"""
    weights: Numbers = {
        "s": numpy.array(0.1, "float32"),
        "t": numpy.array(1 / 256, "float32"),
        "z": numpy.array(0, numpy.uint8),
    }
    path = tmp_path / "written.onnx"

    def watched() -> onnxruntime.SessionOptions:
        given = options(is_optimized=True)()
        given.optimized_model_filepath = str(path)
        return given

    exact.opened(onnx_model(text, weights=weights).SerializeToString(), "", watched)
    assert "QLinearSoftmax" in {node.op_type for node in onnx.load(path).graph.node}


def test_products_of_few_bits_that_optimizers_make_are_rewritten(monkeypatch: pytest.MonkeyPatch) -> None:
    """8-bit weights alone become MatMulNBits of integer activations, as they do where they ship."""
    seen: list[list[str]] = []
    rewrite = blocks.ordered

    def watched(proto: onnx.ModelProto) -> bool:
        changed = rewrite(proto)
        seen.append([node.op_type for node in proto.graph.node])
        return changed

    monkeypatch.setattr(blocks, "ordered", watched)
    text = """(float[2,64] x) => (float[2,16] y) {
        v = DequantizeLinear <axis = 0, block_size = 32> (w, s) y = MatMul (x, v)
    }"""
    weights: Numbers = {"w": W // 4, "s": numpy.full((2, 16), 0.01, "f4")}
    x = numpy.random.default_rng(0).normal(size=(2, 64)).astype(numpy.float32)
    found = run(onnx_model(text, weights=weights, opsets={"": 21}, ir_version=10), x, is_optimized=True)
    assert "MatMulNBits" in seen[0]
    assert "Round" in seen[0]
    expected = x.astype(numpy.float64) @ (0.01 * weights["w"].astype(numpy.float64))
    assert 0 < abs(found - expected).max() < 0.05
