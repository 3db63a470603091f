"""Static quantization: what is rounded where, and odd ranges, weights, biases and limits."""

from typing import Any

import numpy
import onnx
import pytest
from onnx.reference import ReferenceEvaluator

from packager.core.errors import ConfigError, ModelError
from packager.core.quantized import Range
from packager.quantizers import StaticQdq
from tests.cases.onnx_text import onnx_model
from tests.cases.rewriting_cases import (
    Array,
    Outcome,
    decibels,
    drafted,
    outcome,
    run,
    run_inside,
    samples_for,
    static,
    weight,
)
from tests.cases.rewriting_random_nets import assert_half_steps

PADDED = "<pads = [1, 1, 1, 1]>"
KINDS: dict[str, StaticQdq] = {
    "int8": static(),
    "all": static(scope="all"),
    "uint8": static(activations="uint8", weights="uint8"),
    "uint8, one scale": static(activations="uint8", weights="uint8", per_channel=False),
    "symmetric": static(symmetric=True),
    "uint16": static(activations="uint16"),
    "int16": static(activations="int16", symmetric=True),
}


def image_model(body: str, **weights: Array) -> onnx.ModelProto:
    return onnx_model(f"(float[1,4,8,8] x) => (float[1,4,8,8] y) {{ {body} }}", weights=weights)


def conv(value: str, result: str, bias: str = "b") -> str:
    return f"{result} = Conv {PADDED} ({value}, w{', ' + bias if bias else ''}) "


def without(array: Array, channel: int, factor: float = 0.0) -> Array:
    changed = array.copy()
    changed[channel] *= numpy.float32(factor)
    return changed


KERNEL, BIAS = weight(4, 4, 3, 3) / 6, weight(4, seed=1)
ODD: dict[str, tuple[str, dict[str, Array]]] = {
    "a channel of zeros": (conv("x", "y"), {"w": without(KERNEL, 1)}),
    "a channel of denormals": (conv("x", "y"), {"w": without(KERNEL, 1, 1e-40)}),
    "a channel a million times larger": (conv("x", "y"), {"w": without(KERNEL, 1, 1e6)}),
    "a bias that 32 bits do not hold": (conv("x", "y"), {"w": KERNEL * 1e-6, "b": BIAS * 1e4}),
    "a bias on weights of zero": (conv("x", "y"), {"w": KERNEL * 0, "b": BIAS * 1e4}),
    "a value that is always zero": (f"h = Mul (x, zero) {conv('h', 'y')}", {"zero": numpy.zeros(1, numpy.float32)}),
    "a Relu that lets nothing through": (f"{conv('x', 'c')} r = Relu (c) {conv('r', 'y')}", {"b": -20 - abs(BIAS)}),
    "one bias and one weight for two layers": (f"{conv('x', 'c')} {conv('c', 'y')}", {}),
    "a weight that is added, too": (f"{conv('x', 'c')} d = Add (c, s) t = Mul (d, s) {conv('t', 'y')}", {"s": BIAS[0]}),
    "one value twice": (f"{conv('x', 'c')} d = Add (c, c) y = Mul (d, d)", {}),
    "a batch norm that was not folded": (
        f"{conv('x', 'c')} n = BatchNormalization (c, b, b, b, var) r = Relu (n) {conv('r', 'y')}",
        {"var": abs(BIAS) + 1},
    ),
}


def test_odd_weights_and_values_are_rounded_by_half_a_step() -> None:
    for kind in KINDS:
        for name in ODD:
            body, weights = ODD[name]
            model = image_model(body, **{"w": KERNEL, "b": BIAS, **weights})
            samples = samples_for(model)
            made = outcome(model, KINDS[kind], samples)
            assert made.left == ()
            assert_half_steps(made, samples[0])
            assert made.decibels(samples[0]) > 30
            assert made.decibels(samples[0], is_optimized=False) > 30


@pytest.mark.parametrize("scope", ["kernels", "all"])
def test_onnx_s_own_evaluator_computes_the_same(scope: str) -> None:
    """Step by step; runtimes may round ties either way."""
    model = image_model(f"{conv('x', 'c')} r = Relu (c) d = Add (r, x) {conv('d', 'y', '')}", w=KERNEL, b=BIAS)
    model.opset_import[0].version = 21
    samples = samples_for(model)
    made = outcome(model, static(scope=scope), samples).model
    (expected,) = ReferenceEvaluator(made).run(None, samples[0])
    assert decibels([(numpy.asarray(expected), run(made, samples[0], is_optimized=False)["y"])]) > 35


@pytest.mark.parametrize(("name", "bad"), [("w", numpy.nan), ("w", numpy.inf), ("b", numpy.nan), ("b", -numpy.inf)])
def test_a_constant_that_is_not_finite_is_refused_by_name(name: str, bad: float) -> None:
    weights = {"w": KERNEL.copy(), "b": BIAS.copy()}
    weights[name].reshape(-1)[3] = bad
    good = image_model(conv("x", "y"), w=KERNEL, b=BIAS)
    draft = drafted(good, static(), samples_for(good))
    for tensor in draft.graph.initializer:
        tensor.CopyFrom(onnx.numpy_helper.from_array(weights[tensor.name], tensor.name))
    with pytest.raises(ModelError, match=f"'{name}'"):
        static().quantize(draft)


def test_names_and_ranges_that_are_not_there_are_refused_or_noted() -> None:
    with pytest.raises(ConfigError, match=r"^exclude: the model has no node 'q'"):
        mixed(exclude=("q",))
    with pytest.raises(ConfigError, match=r"^weight-only: the model has no node 'q'"):
        mixed(weight_only=("q",))
    model = image_model(f"{conv('x', 'c')} {conv('c', 'd')} {conv('d', 'y')}", w=KERNEL, b=BIAS)
    draft = drafted(model, static(), samples_for(model))
    draft.ranges = {name: each for name, each in draft.ranges.items() if name != "d"}
    static().quantize(draft)
    assert {each.name: each.reason for each in draft.left} == {
        "d": "no range of 'd' was measured",
        "y": "no range of 'd' was measured",
    }
    assert [node.op_type for node in draft.graph.node].count("QuantizeLinear") == 2
    onnx.checker.check_model(draft.proto, full_check=True)
    model = image_model(f"{conv('x', 'c')} {conv('c', 'y')}", w=KERNEL, b=BIAS)
    draft = drafted(model, static(), samples_for(model))
    draft.ranges = {**draft.ranges, "c": Range(low=0.0, high=float("nan"))}
    with pytest.raises(ModelError, match="'c'"):
        static().quantize(draft)
    assert mixed().operators.count("QuantizeLinear") == 3
    assert mixed(scope="all").operators.count("QuantizeLinear") == 6


LIMITS: dict[str, Any] = {"low": numpy.float32(0), "one": numpy.float32(1), "six": numpy.float32(6)}


def test_a_limit_goes_where_the_limits_of_the_integers_are_as_narrow() -> None:
    for limit, factor, kind, is_there in [
        ("Relu (c)", 1, "int8", False),
        ("Relu (c)", 1, "uint16", False),
        ("Relu (c)", 1, "symmetric", True),
        ("Clip (c, low, six)", 0.01, "int8", False),
        ("Clip (c, low, six)", 30, "int8", False),
        ("Clip (c, low, six)", 30, "symmetric", True),
        ("Clip (c, one, six)", 30, "int8", True),
        ("Clip (c, , one)", 1, "int8", True),
    ]:
        weights = {name: numpy.array(number) for name, number in LIMITS.items()}
        body = f"c = Conv {PADDED} (x, v) r = {limit} {conv('r', 'y', '')}"
        model = image_model(body, v=KERNEL * numpy.float32(factor), w=KERNEL, **weights)
        samples = samples_for(model)
        made = outcome(model, KINDS[kind], samples)
        assert (limit.split()[0] in made.operators) is is_there
        assert made.decibels(samples[0]) > 25
        quantized = run_inside(made.model, {"x": samples[0]["x"] * 100})["r"]
        expected = run_inside(model, {"x": samples[0]["x"] * 100})["r"]
        half_a_step = 0.5001 * float(made.constants["r_scale"])
        assert quantized.min() >= expected.min() - half_a_step
        assert quantized.max() <= expected.max() + half_a_step


def test_a_limit_of_a_value_that_others_take_stays() -> None:
    model = onnx_model(
        f"""(float[1,4,8,8] x) => (float[1,4,8,8] y, float[1,4,8,8] z, float[1,4,8,8] r) {{
            {conv("x", "c", "")} r = Relu (c) z = Neg (c) {conv("r", "y", "")}
        }}""",
        weights={"w": KERNEL},
    )
    samples = samples_for(model)
    made = outcome(model, static(), samples)
    assert "Relu" in made.operators
    assert run(made.model, samples[0])["z"].max() > 0.5
    assert made.decibels(samples[0]) > 30


def test_a_value_that_is_an_output_and_goes_on_is_the_same_for_both() -> None:
    model = onnx_model(
        f"(float[1,4,8,8] x) => (float[1,4,8,8] y, float[1,4,8,8] c) {{ {conv('x', 'c', '')} {conv('c', 'y', '')} }}",
        weights={"w": KERNEL},
    )
    samples = samples_for(model)
    made = outcome(model, static(), samples)
    scale = made.constants["c_scale"]
    steps = run(made.model, samples[0])["c"] / scale
    assert float(numpy.abs(steps - numpy.rint(steps)).max()) < 1e-3
    assert made.operators.count("QuantizeLinear") == 3


def test_opsets_from_10_on_run_and_older_ones_are_refused() -> None:
    # QuantizeLinear has an axis since opset 13 and 16 bits since 21; before, com.microsoft's has.
    for opset in (10, 12, 13, 20, 21, 26):
        for kind in ["int8", "uint16"]:
            model = onnx_model(
                f"""(float[1,4,8,8] x) => (float[1,5] y) {{
                    {conv("x", "c")} r = Relu (c) f = Flatten (r) y = Gemm (f, v, z)
                }}""",
                weights={"w": KERNEL, "b": BIAS, "v": weight(256, 5), "z": weight(5)},
                opsets={"": opset},
                ir_version=10,
            )
            samples = samples_for(model)
            made = outcome(model, KINDS[kind], samples)
            activations = {node.domain for node in made.model.graph.node if node.op_type == "QuantizeLinear"}
            assert activations == {"" if opset >= (21 if kind == "uint16" else 13) else "com.microsoft"}
            assert made.decibels(samples[0]) > 30
    model = onnx_model(
        "(float[4,16] x) => (float[4,4] y) { y = MatMul (x, w) }", weights={"w": weight(16, 4)}, opsets={"": 9}
    )
    with pytest.raises(ModelError, match="opset 9; quantizer 'static-qdq' writes operators of opset 10"):
        static().quantize(drafted(model, static(), samples_for(model)))


MIXED = "a = MatMul (x, w) s = Softmax (a) b = MatMul (s, w) c = Add (b, x) y = MatMul (c, w)"


def mixed(**settings: Any) -> Outcome:
    model = onnx_model(f"(float[16,16] x) => (float[16,16] y) {{ {MIXED} }}", weights={"w": weight(16, 16)})
    samples = samples_for(model)
    made = outcome(model, static(**settings), samples)
    assert made.decibels(samples[0]) > 20
    return made


@pytest.mark.parametrize("scope", ["kernels", "all"])
def test_what_is_excluded_takes_and_gives_floats(scope: str) -> None:
    made = mixed(scope=scope, exclude=("a", "s", "c"))
    values = {node.output[0]: node for node in made.model.graph.node}
    assert [values[name].op_type for name in ("a", "s", "c")] == ["MatMul", "Softmax", "Add"]
    assert list(values["a"].input) == ["x", "w"]
    assert made.reasons == {"a": "excluded by the configuration"}


@pytest.mark.parametrize("scope", ["kernels", "all"])
def test_layers_of_which_the_weights_alone_are_quantized_compute_in_float(scope: str) -> None:
    made = mixed(scope=scope, weight_only=("a", "b", "y"))
    assert "QuantizeLinear" not in made.operators
    assert made.operators.count("DequantizeLinear") == 1
    assert set(made.reasons) == {"a", "b", "y"}
    partly = mixed(scope=scope, weight_only=("b",))
    (layer,) = (
        node for node in partly.model.graph.node if node.output[0] in ("b", "b_float") and node.op_type == "MatMul"
    )
    assert layer.input[1] == "w_dequantized"
    assert partly.reasons == {"b": "its weights alone are quantized, by the configuration"}


def test_a_matmul_of_two_computed_values_is_not_noted_where_it_is_quantized() -> None:
    model = onnx_model(
        "(float[16,16] x) => (float[16,16] y) { a = MatMul (x, w) b = MatMul (a, x) y = MatMul (b, w) }",
        weights={"w": weight(16, 16) / 4},
    )
    samples = samples_for(model)
    assert outcome(model, static(), samples).reasons == {"b": "multiplies two computed values"}
    assert outcome(model, static(scope="all"), samples).reasons == {}


def test_a_softmax_of_nearly_equal_numbers_is_not_zero() -> None:
    """ONNX Runtime's kernel overflows if its output scale is too small."""
    for opset in [12, 17]:
        for spread in [0.001, 0.1, 1, 8]:
            for length in [2, 8, 64]:
                model = onnx_model(
                    f"(float[4,16] x) => (float[4,{length}] y) {{ a = MatMul (x, w) y = Softmax (a) }}",
                    weights={"w": weight(16, length) / 4 * numpy.float32(spread)},
                    opsets={"": opset},
                )
                samples = samples_for(model)
                made = outcome(model, static(scope="all"), samples)
                assert "y_float" in {node.output[0] for node in made.model.graph.node}
                assert made.decibels(samples[0]) > 25


def test_what_a_softmax_over_any_number_of_values_gives_stays_in_float() -> None:
    """The smallest possible scale depends on that number."""
    model = onnx_model(
        """(float[16,N] x) => (float[1,N,16] y) {
            t = Transpose (x) a = MatMul (t, w) b = MatMul (a, x) s = Softmax (b)
            u = Unsqueeze (s, zero) c = MatMul (u, t) y = MatMul (c, w)
        }""",
        weights={"w": weight(16, 16) / 400, "zero": numpy.array([0])},
    )
    samples = [{"x": weight(16, 64)}]
    made = outcome(model, static(scope="all"), samples)
    values = {node.output[0]: node.op_type for node in made.model.graph.node}
    assert [values[name] for name in ("s", "u", "c")] == ["Softmax", "Unsqueeze", "MatMul"]
    assert made.decibels(samples[0]) > 25


def test_softmax_stays_in_float_where_rounding_would_show() -> None:
    # ONNX Runtime fuses it if its input comes from integers and its output goes to integers.
    model = onnx_model(
        "(float[4,16] x) => (float[4,8] y) { a = Gemm (x, v) s = Softmax (a) y = MatMul (s, w) }",
        weights={"v": weight(16, 8) / 400, "w": weight(8, 8)},
    )
    samples = samples_for(model)
    assert outcome(model, static(), samples).decibels(samples[0]) > 30
    model = onnx_model(
        "(float[4,16] x) => (float[4,8] y) { a = Gemm (x, w) y = Sigmoid (a) }", weights={"w": weight(16, 8)}
    )
    made = outcome(model, static(), samples_for(model))
    assert made.model.graph.node[-1].op_type == "Sigmoid"


@pytest.mark.parametrize(("mode", "is_rounded"), [("linear", True), ("nearest", True), ("cubic", False)])
def test_resizing_keeps_the_scale_unless_it_overshoots(mode: str, is_rounded: bool) -> None:
    model = onnx_model(
        f"""(float[1,4,8,8] x) => (float[1,4,16,16] y) {{
            {conv("x", "c", "")} y = Resize <mode = "{mode}"> (c, , s)
        }}""",
        weights={"w": KERNEL, "s": numpy.array([1, 1, 2, 2], numpy.float32)},
    )
    samples = samples_for(model)
    made = outcome(model, static(), samples)
    assert ("y_float" in {node.output[0] for node in made.model.graph.node}) is is_rounded
    assert made.decibels(samples[0]) > 25


@pytest.mark.parametrize("embeddings", [True, False])
def test_tables_of_embeddings_get_8_bits_if_they_may(embeddings: bool) -> None:
    model = onnx_model(
        "(int64[1,4] x) => (float[1,4,8] y) { a = Gather (e, x) y = MatMul (a, w) }",
        weights={"e": weight(100, 33), "w": weight(33, 8)},
    )
    samples = samples_for(model)
    made = outcome(model, static(embeddings=embeddings), samples)
    assert ("GatherBlockQuantized" in made.operators) is embeddings
    assert made.decibels(samples[0]) > 30
