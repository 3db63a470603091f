"""Inferred shapes against a run: where inference and ONNX Runtime's kernels round differently, the run is right."""

import random
from pathlib import Path
from typing import Any

import numpy
import onnx
import onnxruntime
import pytest

from benchmarks.conformance_cases import collected
from packager.compile.compile import compile_variant
from packager.core.console import Console
from packager.core.values import Model, baseline
from packager.engines.session.refusals import is_refusal
from packager.files.store import Store
from packager.quantization.variants import build_variant
from packager.quantizers.float16 import Float16
from packager.verification import observed
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


def test_all_other_operators_infer_what_a_run_gives() -> None:
    """ONNX's own cases, with integers as constants so that sizes are known, and drawn pools and convolutions."""
    cases = [
        (case.name, case.model, dict(zip([each.name for each in case.model.graph.input], case.inputs, strict=False)))
        for case in collected()
    ]
    compared, refuted = 0, {}
    for name, model, feeds in [*cases, *drawn(400)]:
        found = run_of(model, feeds)
        for value, (inferred, seen) in found.items():
            compared += 1
            if len(inferred) != len(seen) or any(
                one not in (None, other) for one, other in zip(inferred, seen, strict=True)
            ):
                refuted[name, value] = (inferred, seen)
    known = {name: model for name, model, _ in cases}
    rounding = {name for name, model, _ in [*cases, *drawn(400)] if any(map(observed._rounds, model.graph.node))}
    assert {name for name, _ in refuted} <= rounding
    assert {name for name, _ in refuted if name in known} == {"test_stft", "test_stft_with_window"}
    assert len(refuted) > 10
    assert compared > 1900


def run_of(model: onnx.ModelProto, feeds: dict[str, Any]) -> dict[str, tuple[tuple[int | None, ...], tuple[int, ...]]]:
    """Each output: the inferred shape and that of a run; nothing for what ONNX Runtime refuses."""
    fixed = onnx.ModelProto()
    fixed.CopyFrom(model)
    fixed.ir_version = min(model.ir_version, 12)
    for value in fixed.graph.output:
        value.type.tensor_type.ClearField("shape")
    small = {
        name: each
        for name, each in feeds.items()
        if isinstance(each, numpy.ndarray) and each.dtype in ("int64", "int32") and each.size < 100
    }
    fixed.graph.initializer.extend(onnx.numpy_helper.from_array(each, name) for name, each in small.items())
    rest = [value for value in fixed.graph.input if value.name not in small]
    del fixed.graph.input[:]
    fixed.graph.input.extend(rest)
    names = [value.name for value in fixed.graph.output if value.type.HasField("tensor_type")]
    try:
        graph = onnx.shape_inference.infer_shapes(fixed, data_prop=True).graph
        opened = session(fixed, is_optimized=False)
        results = dict(zip(names, opened.run(names, {each.name: feeds[each.name] for each in rest}), strict=True))
    except onnx.shape_inference.InferenceError:
        return {}
    except Exception as error:
        if not is_refusal(error):
            raise
        return {}
    inferred = {value.name: observed._dims(value) for value in graph.output if value.type.tensor_type.HasField("shape")}
    return {
        name: (inferred[name], results[name].shape) for name in names if name in inferred and results[name] is not None
    }


def drawn(count: int) -> list[tuple[str, onnx.ModelProto, dict[str, Any]]]:
    """Models of one node whose sizes depend on strides, paddings and factors; the same ones each time."""
    chance = random.Random(0)
    return [drawn_model(f"drawn {number}", chance) for number in range(count)]


def drawn_model(name: str, chance: random.Random) -> tuple[str, onnx.ModelProto, dict[str, Any]]:
    size, kernel, stride = chance.randint(4, 12), chance.randint(1, 3), chance.randint(1, 3)
    pads = f"pads = [{chance.randint(0, kernel - 1)}, {chance.randint(0, kernel - 1)}]"
    padding = chance.choice([pads, *(f'auto_pad = "{each}"' for each in ("SAME_UPPER", "SAME_LOWER", "VALID"))])
    moved = f"strides = [{stride}], {padding}"
    small = [chance.randint(-9, 9) for _ in range(4)]
    constants = {"s": small[:1], "e": small[1:2], "a": [2], "t": [chance.choice([-2, -1, 1, 3])]}
    node = chance.choice(
        [
            *(
                f"y = {pool} <kernel_shape = [{kernel}], {moved}{ceil}> (x)"
                for pool in ("MaxPool", "AveragePool", "LpPool")
                for ceil in ("", ", ceil_mode = 1")
            ),
            f"y = Conv <{moved}, dilations = [{chance.randint(1, 2)}]> (x, w)",
            f"y = ConvTranspose <{moved}, output_padding = [{chance.randint(0, stride - 1)}]> (x, v)",
            'y = Resize <mode = "nearest"> (x, , f)',
            'y = Resize <mode = "nearest"> (x, , , z)',
            "y = Slice (x, s, e, a, t)",
            "y = Pad (x, p)",
            "y = Split <axis = 2, num_outputs = 1> (x)",
        ]
    )
    weights = {
        "w": weight(3, 2, kernel),
        "v": weight(2, 3, kernel),
        "f": numpy.array([1, 1, chance.choice([0.3, 0.7, 1 / 3, 1.1, 2, 2.2])], numpy.float32),
        "z": numpy.array([1, 2, chance.randint(1, 20)]),
        "p": numpy.array([0, 0, small[2] // 3, 0, 0, small[3] // 3]),
        **{key: numpy.array(numbers) for key, numbers in constants.items()},
    }
    used = {key: array for key, array in weights.items() if f", {key}" in node.split("(")[1]}
    text = f"(float[1,2,{size}] x) => (float[1,c,n] y) {{ {node} }}"
    model = onnx_model(text, weights=used, opsets={"": chance.choice([18, 19, 22])}, ir_version=10)
    return name, model, {"x": weight(1, 2, size)}
