"""Random inputs lie where the operators that they reach are defined, and make no net compute for minutes."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy
import onnx
import pytest

from packager.core.errors import ToolError
from packager.core.values import Model, baseline
from packager.engines.runners import Runnable
from packager.engines.runners.cpu import Cpu
from packager.samples import write_arrays
from packager.samples.domains import domains_of
from packager.verification import parity
from packager.verification.parity import Accepted, ParitySettings, Subject, reference
from tests.cases.onnx_text import compiled, loaded, onnx_model, weight


def accepted(model: Model, folder: Path, *, count: int = 2) -> Accepted:
    folder.mkdir(exist_ok=True)
    return parity.random_inputs(baseline(model), folder, count=count, seed=0)


def inputs(found: Accepted) -> list[Mapping[str, Any]]:
    return [dict(numpy.load(path)) for path in found.found.samples.paths]


def outputs(found: Accepted, index: int = 0) -> list[Any]:
    return [parity.array_of(outcome, index) for outcome in found.outcomes]


@pytest.mark.parametrize(
    ("body", "low", "high"),
    [
        ("y = Log (x)", 0, 1),
        ("y = Sqrt (x)", 0, 1),
        ("y = Reciprocal (x)", 0, 1),
        ("y = Div (one, x)", 0, 1),
        ("y = Pow (x, half)", 0, 1),
        ("y = Acosh (x)", 1, 3),
        ("y = Atanh (x)", -1, 1),
        ("a = Mul (x, two) y = Acos (a)", -0.5, 0.5),
        ("a = Add (x, one) y = Log (a)", -1, 1),
        ("a = Sub (one, x) y = Sqrt (a)", -1, 1),
        ("a = Neg (x) y = Log (a)", -1, 0),
        ("a = Sub (x, five) b = Log (a) y = Tanh (b)", 5, 12),
        ("a = Div (x, five) b = Sub (a, one) y = Sqrt (b)", 5, 12),
        ("s = Constant <value = int64[1] {-1}> () a = Reshape (x, s) b = Abs (a) c = Relu (x) y = Log (c)", 0, 1),
        ("a = ReduceMean <axes = [0]> (x) y = Log (a)", 0, 1),
        ("a = Concat <axis = 0> (x, x) y = Log (a)", 0, 1),
        ("a = Mul (x, x) y = Log (a)", -1, 1),
    ],
)  # fmt: skip
def test_a_number_is_in_the_domain_of_what_it_reaches(tmp_path: Path, body: str, low: float, high: float) -> None:
    constants = "<float one = {1}, float two = {2}, float five = {5}, float half = {0.5}>"
    model = loaded(tmp_path, onnx_model(f"(float[50] x) => (float[?] y) {constants} {{ {body} }}"))
    found = accepted(model, tmp_path / "run")
    for sample, output in zip(inputs(found), outputs(found), strict=True):
        assert sample["x"].min() >= low
        assert sample["x"].max() <= high
        assert sample["x"].std() > 0.1
        assert numpy.isfinite(output).all()
    assert found.found.tries == 1


@pytest.mark.parametrize(
    "body",
    ["a = Conv <kernel_shape = [3], pads = [1, 1]> (x, w) y = Log (a)",
     "a = MatMul (x, m) y = Sqrt (a)",
     "a = Constant <value = float {0.001}> () b = Greater (x, a) y = If (b0) <"
     " then_branch = t () => (float[1, 1, 8] p) { p = Log (x) },"
     " else_branch = e () => (float[1, 1, 8] q) { q = Log (x) }>"],
    ids=["convolution", "product", "branch"],
)  # fmt: skip
def test_where_no_domain_is_known_other_numbers_are_tried(tmp_path: Path, body: str) -> None:
    weights = {
        "w": numpy.abs(weight(1, 1, 3)) + 0.1,
        "m": numpy.abs(weight(8, 8)) + numpy.float32(0.1),
        "b0": numpy.array(True),
    }
    text = f"(float[1, 1, 8] x) => (float[1, 1, 8] y) {{ {body} }}"
    model = loaded(
        tmp_path, onnx_model(text, weights={n: a for n, a in weights.items() if f" {n})" in text or f"({n})" in text})
    )
    assert domains_of(model) == {}
    found = accepted(model, tmp_path / "run")
    for output in outputs(found):
        assert numpy.isfinite(output).all()
    again = accepted(model, tmp_path / "again")
    assert [sample["x"].tolist() for sample in inputs(found)] == [sample["x"].tolist() for sample in inputs(again)]


@pytest.mark.parametrize(
    ("body", "weights"),
    [
        ("h = MatMul (x, m) a = Sub (s, h) b = Log (a)", {"m": numpy.abs(weight(8, 8))}),
        ("h = MatMul (x, m) a = Sub (h, s) b = Sqrt (a)", {"m": -numpy.abs(weight(8, 8)) - numpy.float32(1)}),
        ("a = Mul (s, s) d = Sub (c, a) e = Sqrt (d) b = Add (e, x)", {"c": numpy.array(0.05, numpy.float32)}),
    ],
    ids=["one input exceeds a product of the other", "a product is negative", "a domain that is guessed wrongly"],
)
def test_inputs_are_drawn_apart_or_outside_of_guessed_domains_where_nothing_else_gives_numbers(
    tmp_path: Path, body: str, weights: dict[str, Any]
) -> None:
    text = f"(float[4, 8] x, float[4, 8] s) => (float y) {{ {body} y = ReduceSum <keepdims = 0> (b) }}"
    found = accepted(loaded(tmp_path, onnx_model(text, weights=weights)), tmp_path / "run")
    for output in outputs(found):
        assert numpy.isfinite(output).all()


@pytest.mark.parametrize(
    ("node", "opset"),
    [
        ('Resize <mode = "linear"> (x, s)', 10),
        ('Resize <mode = "linear"> (x, , s)', 13),
        ('Upsample <mode = "nearest"> (x, s)', 9),
    ],
)
def test_scales_that_are_an_input_keep_the_size(tmp_path: Path, node: str, opset: int) -> None:
    text = f"(float[1, 3, 4, 4] x, float[4] s) => (float[1, c, h, w] y) {{ a = {node} y = Relu (a) }}"
    found = accepted(loaded(tmp_path, onnx_model(text, opsets={"": opset})), tmp_path / "run")
    assert [sample["s"].tolist() for sample in inputs(found)] == [[1.0] * 4] * 2
    assert [output.shape for output in outputs(found)] == [(1, 3, 4, 4)] * 2


def test_sizes_are_small_and_computed_first(tmp_path: Path) -> None:
    model = loaded(tmp_path, speech(by="norm = ReduceL2 <keepdims = 0> (style)"))
    found = accepted(model, tmp_path / "run")
    assert max(abs(sample["style"]).max() for sample in inputs(found)) <= 1 / 8
    assert max(output.size for output in outputs(found)) < 100
    assert "style from -0.125 to 0.125" in found.found.samples.description
    by = "a = ReduceL2 <keepdims = 0> (style) k = Constant <value = float {10}> () norm = Mul (a, k)"
    found = accepted(loaded(tmp_path, speech(by=by)), tmp_path / "run")
    assert max(abs(sample["style"]).max() for sample in inputs(found)) <= 1 / 64
    assert max(output.size for output in outputs(found)) < 1 << 13
    text = """(float speed, int64[1, t] tokens) => (float[n] sound)
        <float rate = {400}, int64 from = {0}, int64 by = {1}> {
        f = Mul (speed, rate) n = Cast <to = 7> (f)
        r = Range (from, n, by) c = Cast <to = 1> (r) sound = Sin (c) }"""
    found = accepted(loaded(tmp_path, onnx_model(text)), tmp_path / "run")
    assert max(output.size for output in outputs(found)) > 20
    assert min(sample["speed"] for sample in inputs(found)) > 0
    model = loaded(tmp_path, onnx_model("(int64[9] x, int64[9] z) => (int64[9] y) { y = Mod (x, z) }"))
    for sample in inputs(accepted(model, tmp_path / "run")):
        assert sample["z"].min() > 0


def test_outputs_without_numbers_are_not_compared(tmp_path: Path) -> None:
    graph = """(float[4] x) => (float[4] y, float[4] z, float[n] e) {
        n = Abs (x) m = Neg (n) s = Sub (m, one) y = Log (s) z = Relu (x) g = Greater (m, one) e = Compress (x, g) }"""
    file = compiled(tmp_path, onnx_model(graph, weights={"one": numpy.array(1, numpy.float32)}))
    found = parity.check(
        Subject(variant=file.variant, compiled=file), Cpu(), ParitySettings(random_samples=2), tmp_path
    )
    assert found.parity.not_compared == ("y", "e")
    assert [each.output for each in found.parity.compared_outputs] == ["z"]
    assert "equals the original" in found.parity.result
    assert "not compared: 'y', 'e'" in found.parity.result


def test_a_comparison_of_nan_alone_equals_nothing(tmp_path: Path) -> None:
    graph = "(float[4] x) => (float[4] y) { n = Abs (x) m = Neg (n) s = Sub (m, one) y = Log (s) }"
    file = compiled(tmp_path, onnx_model(graph, weights={"one": numpy.array(1, numpy.float32)}))
    found = parity.check(
        Subject(variant=file.variant, compiled=file), Cpu(), ParitySettings(random_samples=2), tmp_path
    )
    assert found.parity.result.startswith("not compared: ")
    assert found.parity.without_numbers == ("y",)


def speech(*, by: str) -> onnx.ModelProto:
    """As many frames as e to the power of `by`."""
    return onnx_model(
        f"""(float[1, 256] style, int64[1, t] tokens) => (float[1, n] y) <float base = {{7}}, int64[1] one = {{1}}> {{
        {by} e = Exp (norm) s = Mul (e, base) n = Cast <to = 7> (s) m = Reshape (n, one)
        fs = Concat <axis = 0> (m, c) z = ConstantOfShape <value = float[1] {{0.01}}> (fs)
        v = MatMul (z, w) u = Tanh (v) y = ReduceMean <axes = [1]> (u) }}""",
        weights={"w": weight(512, 64), "c": numpy.array([512])},
    )


def test_runs_end_within_their_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = """(float[64, 64] x) => (float[64, 64] y) <int64 n = {100000000}, bool yes = {1}> { y = Loop (n, yes, x) <
        body = b (int64 i, bool on, float[64, 64] s) => (bool o, float[64, 64] t) {
            o = Identity (on) p = MatMul (s, x) t = Tanh (p) }> }"""
    model = loaded(tmp_path, onnx_model(text))
    monkeypatch.setattr(reference, "RUN_S", 0.5)
    with pytest.raises(ToolError) as error:
        accepted(model, tmp_path / "run")
    assert error.value.message == "the model ran for more than 0.5 s on one sample"
    assert "[parity] samples" in error.value.hint
    path = tmp_path / "m.onnx"
    path.write_bytes(onnx_model("(float[2] x) => (float[2] y) { y = Relu (x) }").SerializeToString())
    write_arrays(tmp_path / "x.npz", {"x": numpy.array([-1, 2], numpy.float32)})
    with Cpu().open(Runnable(path=path, limit_s=60), tmp_path) as session:
        outcome = session.run(tmp_path / "x.npz", tmp_path)
    assert parity.array_of(outcome, 0).tolist() == [0, 2]


def test_a_size_of_a_picture_is_no_number_of_repetitions(tmp_path: Path) -> None:
    """The sizes of Resize count numbers, 33 million at most; its scales count how often each is repeated."""
    model = loaded(
        tmp_path,
        onnx_model(
            """(float[1, 3, 8, 8] x, int64[2] turned) => (float[1, 3, 1300, 1300] y) {
            none = Mul (turned, zero) size = Add (none, hw) sizes = Concat <axis = 0> (nc, size)
            y = Resize <mode = "linear"> (x, , , sizes) }""",
            weights={"zero": numpy.zeros(2, "i8"), "hw": numpy.full(2, 1300), "nc": numpy.array([1, 3])},
        ),
    )
    assert [output.shape for output in outputs(accepted(model, tmp_path / "run"))] == [(1, 3, 1300, 1300)] * 2
