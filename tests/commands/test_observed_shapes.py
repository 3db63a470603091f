"""Inferred shapes against a run: where inference and ONNX Runtime's kernels round differently, the run is right."""

from pathlib import Path

import numpy
import onnx
import onnxruntime
import pytest

from packager.compile.compile import compile_variant
from packager.core.console import Console
from packager.core.values import Model, baseline
from packager.files.store import Store
from packager.quantization.variants import build_variant
from packager.quantizers.float16 import Float16
from packager.verification.observed import with_observed_shapes
from tests.cases.onnx_text import loaded, onnx_model, weight
from tests.cases.rewriting_cases import session

ROUNDED = {
    "a window that would begin in the padding": (
        "float[1,2,7,9]",
        "a = MaxPool <kernel_shape = [2, 2], strides = [2, 2], pads = [1, 1, 1, 1], ceil_mode = 1> (x)",
        (1, 2, 4, 5),
    ),
    "an average that would begin behind the end": (
        "float[1,2,4]",
        "a = AveragePool <kernel_shape = [1], strides = [2], ceil_mode = 1> (x)",
        (1, 2, 2),
    ),
    "a norm that would begin behind the end": (
        "float[1,2,4]",
        "a = LpPool <kernel_shape = [1], strides = [2], ceil_mode = 1> (x)",
        (1, 2, 2),
    ),
    "a factor that is not exact": ("float[1,1,10]", 'a = Resize <mode = "linear"> (x, , f)', (1, 1, 7)),
    "padding that the output chooses": (
        "float[1,2,2]",
        'a = ConvTranspose <auto_pad = "SAME_LOWER", output_padding = [1], strides = [2]> (x, w)',
        (1, 2, 4),
    ),
    "half a spectrum by default": (
        "float[1,400,1]",
        "h = Constant <value = int64 {64}> () n = Constant <value = int64 {128}> () a = STFT (x, h, , n)",
        (1, 5, 65, 2),
    ),
}
TAIL = "s = Shape (a) m = ReduceProd <keepdims = 0> (s) f32 = Cast <to = 1> (m) y = Div (a, f32)"


def rounded(folder: Path, shape: str, node: str, tail: str = TAIL) -> Model:
    """A model that divides the result of `node` by the number of its elements."""
    weights = {"f": numpy.array([1, 1, 0.7], numpy.float32), "w": weight(2, 2, 2)}
    rank = ", ".join("abcd"[: len(next(each for _, other, each in ROUNDED.values() if other == node))])
    text = f"({shape} x) => (float[{rank}] y) {{ {node} {tail} }}"
    return loaded(folder, onnx_model(text, weights=weights, opsets={"": 18}))


@pytest.mark.parametrize(("shape", "node", "expected"), ROUNDED.values(), ids=ROUNDED)
def test_a_size_that_a_run_refutes_is_not_computed_with(
    tmp_path: Path, shape: str, node: str, expected: tuple[int, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    model = rounded(tmp_path, shape, node)
    store = Store(tmp_path / "store")
    mended = with_observed_shapes(model, store, Console())
    assert f"gives {'x'.join(map(str, expected))}, where ONNX's shape inference says" in " ".join(
        capsys.readouterr().err.split()
    )
    x = (
        numpy.random.default_rng(0)
        .standard_normal([int(each or 0) for each in model.signature.inputs[0].shape])
        .astype(numpy.float32)
    )
    (right,) = session(onnx.load(model.path), is_optimized=False).run(None, {"x": x})
    assert right.shape == expected
    half = build_variant(mended, "half", Float16(), store, Console(quiet=True)).variant if "w)" in node else None
    for variant, close in ((baseline(mended), 1e-5), *([(half, 1e-2)] if half else [])):
        file = compile_variant(variant, store).path
        (found,) = onnxruntime.InferenceSession(str(file)).run(None, {"x": x})
        assert found.shape == expected
        assert numpy.abs(found - right).max() <= close * numpy.abs(right).max()


@pytest.mark.parametrize("kind", ["MaxPool", "AveragePool"])
def test_a_pool_in_a_branch_has_the_size_of_its_kernel(tmp_path: Path, kind: str) -> None:
    pool = f"a = {kind} <kernel_shape = [2, 2], strides = [3, 3], pads = [0, 0, 1, 1], ceil_mode = 1> (x)"
    branch = f"then () => (float[] t) {{ {pool} {TAIL.replace('y = Div (a, f32)', 'q = ReduceSum <keepdims = 0> (a)')}"
    branch += " t = Div (q, f32) }"
    text = f"""(float[1, 1, 6, 6] x, bool c) => (float[] y) {{
        y = If (c) <then_branch = {branch}, else_branch = else () => (float[] e) {{ e = ReduceSum <keepdims = 0> (x) }}>
    }}"""
    model = loaded(tmp_path, onnx_model(text, opsets={"": 18}))
    store = Store(tmp_path / "store")
    file = compile_variant(baseline(with_observed_shapes(model, store, Console(quiet=True))), store).path
    feeds = {"x": numpy.random.default_rng(0).random((1, 1, 6, 6)).astype(numpy.float32), "c": numpy.array(True)}
    (right,) = session(onnx.load(model.path), is_optimized=False).run(None, feeds)
    (found,) = onnxruntime.InferenceSession(str(file)).run(None, feeds)
    assert found == pytest.approx(right, rel=1e-5)


def test_an_open_size_stays_open(tmp_path: Path) -> None:
    shape, node, _ = ROUNDED["a window that would begin in the padding"]
    mended = with_observed_shapes(
        rounded(tmp_path, shape.replace("1,2", "n,2"), node), Store(tmp_path / "store"), Console(quiet=True)
    )
    assert mended.signature.outputs[0].shape == ("n", 2, 4, 5)


def test_a_model_without_such_an_operator_is_not_run(tmp_path: Path) -> None:
    text = "(float[1,2,7,9] x) => (float[1,2,3,4] y) { y = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (x) }"
    model = loaded(tmp_path, onnx_model(text))
    assert with_observed_shapes(model, Store(tmp_path / "store"), Console(quiet=True)) is model
    assert not list(tmp_path.rglob("shapes.json"))


def test_a_refuted_size_of_an_output_is_declared_as_it_is(tmp_path: Path) -> None:
    shape, node, expected = ROUNDED["a window that would begin in the padding"]
    model = rounded(tmp_path, shape, node, "y = Identity (a)")
    assert model.signature.outputs[0].shape == (1, 2, 5, 6)
    assert (
        with_observed_shapes(model, Store(tmp_path / "store"), Console(quiet=True)).signature.outputs[0].shape
        == expected
    )
