"""Float16: values that become half as large, values that stay in 32 bits and why, and numbers beyond its range."""

from pathlib import Path

import numpy
import onnx
import pytest
from onnx import TensorProto

from packager.core.errors import ConfigError, ModelError
from packager.graph.rewriting.draft import Draft
from packager.graph.weights.writing import WeightFile
from packager.quantizers.float16 import Float16
from tests.cases.onnx_text import onnx_model
from tests.cases.rewriting_cases import Array, Outcome, decibels, inferred, outcome, run, samples_for, weight

TWO = "(float[4,16] x) => (float[4,32] y, float[4,32] z) { y = MatMul (x, w) z = MatMul (x, v) }"


def half(graph: str, *, quantizer: Float16 | None = None, least: float = 50, **weights: Array) -> Outcome:
    model = onnx_model(graph, weights=weights)
    samples = samples_for(model)
    made = outcome(model, quantizer or Float16(), samples)
    for inputs in samples:
        assert made.decibels(inputs) > least
        assert made.decibels(inputs, is_optimized=False) > least
    return made


def test_weights_become_half_and_casts_are_shared() -> None:
    made = half(TWO, w=weight(16, 32), v=weight(16, 32, seed=1))
    assert {array.dtype.name for array in made.constants.values()} == {"float16"}
    assert made.left == ()
    assert numpy.array_equal(made.constants["w"], weight(16, 32).astype(numpy.float16))
    # ONNX Runtime's converter writes it twice, under one name.
    made = half(
        "(float[4,16] x) => (float[4,16] y) { a = MatMul (x, w) b = Max (a, m) c = Min (a, m) y = Add (b, c) }",
        w=weight(16, 16),
        m=weight(16),
    )
    assert made.reasons == {"b": "it computes in 32 bits", "c": "it computes in 32 bits"}
    made = half(
        """(float[1,4,8,8] x) => (float[1,4,16,16] y) {
            a = Conv (x, w) y = Resize <mode = "linear"> (a, , s)
        }""",
        w=weight(4, 4, 1, 1),
        s=numpy.array([1, 1, 2, 2], numpy.float32),
    )
    assert made.constants["s"].dtype == numpy.float32


def test_small_constants_in_files_are_converted_with_their_numbers(tmp_path: Path) -> None:
    model = onnx_model("(float[4,16] x) => (float[4,16] y) { y = Add (x, b) }", weights={"b": weight(16)})
    (tmp_path / "m.data").write_bytes(weight(16).tobytes())
    tensor = TensorProto(name="b", data_type=TensorProto.FLOAT, dims=[16], data_location=TensorProto.EXTERNAL)
    tensor.external_data.add(key="location", value="m.data")
    model.graph.initializer[0].CopyFrom(tensor)
    (tmp_path / "out").mkdir()
    draft = Draft(proto=model, data_folder=tmp_path, weights=WeightFile(tmp_path / "out" / "weights.bin"))
    Float16().quantize(draft)
    draft.finish()
    assert numpy.array_equal(onnx.numpy_helper.to_array(model.graph.initializer[0]), weight(16).astype(numpy.float16))


def test_weights_in_constant_nodes_are_converted_wherever_they_lie(tmp_path: Path) -> None:
    model = onnx_model(
        "(float[4,16] x) => (float[4,32] y) { w = Constant <value = float[1] {0}> () y = MatMul (x, w) }"
    )
    (tmp_path / "m.data").write_bytes(weight(16, 32).tobytes())
    tensor = TensorProto(data_type=TensorProto.FLOAT, dims=[16, 32], data_location=TensorProto.EXTERNAL)
    tensor.external_data.add(key="location", value="m.data")
    model.graph.node[0].attribute[0].t.CopyFrom(tensor)
    (tmp_path / "out").mkdir()
    draft = Draft(proto=model, data_folder=tmp_path, weights=WeightFile(tmp_path / "out" / "weights.bin"))
    Float16().quantize(draft)
    draft.finish()
    assert (tmp_path / "out" / "weights.bin").read_bytes() == weight(16, 32).astype(numpy.float16).tobytes()


def test_numbers_beyond_float16_keep_their_node_in_32_bits() -> None:
    large = weight(16, 32)
    large[2, 3] = 1e6
    made = half(TWO, w=large, v=weight(16, 32))
    assert made.reasons == {"y": "'w' has 1 numbers that are too large for float16"}
    assert made.constants["w"].dtype == numpy.float32
    assert made.constants["v"].dtype == numpy.float16
    mask = numpy.where(weight(4, 16) > 0, numpy.float32(0), numpy.finfo(numpy.float32).min)
    made = half("(float[4,16] x) => (float[4,16] y) { h = Add (x, m) y = Softmax (h) }", m=mask)
    assert made.constants["m"].min() == -65504
    assert made.left == ()
    made = half(
        "(float[4,16] x) => (float[4,16] y) { a = Mul (x, m) b = Mul (a, n) y = MatMul (b, w) }",
        quantizer=Float16(exclude=("b",)),
        m=numpy.array([1e6], numpy.float32),
        n=numpy.array([1e-6], numpy.float32),
        w=weight(16, 16),
    )
    assert set(made.reasons) == {"a", "b"}


def test_a_value_between_two_nodes_in_32_bits_does_not_go_through_float16() -> None:
    """The output is not cast either: these numbers exceed float16."""
    model = onnx_model(
        "(float[4,16] x) => (float[4,16] y, float[4,16] z) { a = MatMul (x, w) y = MatMul (a, w) z = MatMul (x, v) }",
        weights={"w": weight(16, 16) * 1e6, "v": weight(16, 16)},
    )
    samples = samples_for(model)
    made = outcome(model, Float16(), samples)
    assert numpy.isfinite(run(made.model, samples[0])["y"]).all()
    assert made.decibels(samples[0]) > 60
    assert made.operators.count("Cast") == 2


def test_numbers_that_would_become_zero_keep_their_layer_in_32_bits() -> None:
    made = half(TWO, w=weight(16, 32) * numpy.float32(1e-9), v=weight(16, 32))
    assert made.reasons == {"y": "'w' has 512 numbers that are too small for float16"}
    small = weight(16, 32)
    small[0] *= numpy.float32(1e-9)
    made = half(TWO, w=small, v=weight(16, 32))
    assert made.left == ()
    assert not made.constants["w"][0].any()
    tiny = numpy.where(weight(16, 32) > 0, numpy.float32(1e-9), numpy.float32(2))
    made = half("(float[16,32] x) => (float[16,32] y) { a = Mul (x, v) y = Div (a, w) }", w=tiny, v=weight(16, 32))
    assert list(made.reasons) == ["y"]
    assert "too small" in made.reasons["y"]
    # The smallest number of float16 keeps a root from being zero, and can be divided by.
    made = half(
        """(float[4,16] x) => (float[4,16] y) {
            h = MatMul (x, w) d = Sub (h, h) s = Mul (d, d) e = Add (s, eps) r = Sqrt (e) q = Div (d, r) y = Add (q, h)
        }""",
        w=weight(16, 16),
        eps=numpy.array(1e-12, numpy.float32),
    )
    assert made.constants["eps"].dtype == numpy.float16
    assert 0 < made.constants["eps"].item() < 1e-7


def test_nan_and_infinity_stay_what_they_are() -> None:
    """They are marks for what is absent, as common as masks: the sizes are those inside a graph and in a file."""
    for size in (8, 1000):
        marks = weight(4, size)
        marks[:, 1], marks[:, 2], marks[:, 3] = numpy.nan, numpy.inf, -numpy.inf
        model = onnx_model(f"(float[4,{size}] x) => (float[4,{size}] y) {{ y = Add (x, m) }}", weights={"m": marks})
        made = outcome(model, Float16())
        assert numpy.array_equal(made.constants["m"], marks.astype(numpy.float16), equal_nan=True)
        assert made.left == ()


def test_a_number_that_float16_lacks_keeps_its_node_in_32_bits_beside_nan() -> None:
    marks = weight(16)
    marks[1], marks[2] = numpy.nan, 1e6
    made = outcome(
        onnx_model("(float[4,16] x) => (float[4,16] y) { y = Mul (x, m) }", weights={"m": marks}),
        Float16(exclude=("y",)),
    )
    assert numpy.array_equal(made.constants["m"], marks, equal_nan=True)
    draft = Draft(
        proto=inferred(onnx_model("(float[4,16] x) => (float[4,16] y) { y = Mul (x, m) }", weights={"m": marks})),
        data_folder=Path(),
    )
    with pytest.raises(ModelError, match="'m' has 1 numbers that are too large for float16"):
        Float16().quantize(draft)


def test_a_constant_of_a_node_in_32_bits_keeps_its_numbers_though_others_take_it_in_16() -> None:
    large = numpy.array([1e6], numpy.float32)
    made = half(
        """(float[4,16] x) => (float[4,16] y, float[4,16] z) {
            a = Div (x, m) y = MatMul (a, w) z = Min (x, m) b = Sub (z, m)
        }""",
        m=large,
        w=weight(16, 16),
    )
    assert made.constants["m"].dtype == numpy.float32
    assert made.constants["m"] == large
    assert made.constants["m_fp16"] == numpy.float16(65504)


WIDE_RESULTS = {
    "a window": "n = Constant <value = int64 {16}> () a = HannWindow (n) h = Mul (x, a) y = MatMul (h, w)",
    "a window in doubles": """n = Constant <value = int64 {16}> () d = HannWindow <output_datatype = 11> (n)
        a = Cast <to = 1> (d) h = Mul (x, a) y = MatMul (h, w)""",
    "a matrix of mel weights": """
        m = Constant <value = int64 {16}> () n = Constant <value = int64 {30}> () r = Constant <value = int64 {8000}> ()
        l = Constant <value = float {0}> () u = Constant <value = float {4000}> ()
        b = MelWeightMatrix (m, n, r, l, u) a = MatMul (w, b) y = MatMul (x, w)""",
    "counts of words": """i = Cast <to = 7> (x)
        a = TfIdfVectorizer <mode = "TF", min_gram_length = 1, max_gram_length = 1, max_skip_count = 0,
            ngram_counts = [0], ngram_indexes = [0, 1, 2], pool_int64s = [0, 1, -1]> (i)
        c = ReduceSum (a, t) h = Mul (x, c) y = MatMul (h, w)""",
    "what a normalization has found out": """h = MatMul (x, w) l, m, i = LayerNormalization (h, g)
        a = Mul (l, i) y = Add (a, m)""",
    "mean and variance": "h = MatMul (x, w) y = MeanVarianceNormalization <axes = [1]> (h)",
    "a diagonal": "e = Shape (w) a = EyeLike <dtype = 1> (w) h = MatMul (x, a) y = MatMul (h, w)",
    "an operator of the runtime": "h = com.microsoft.FusedMatMul (x, w) r = Relu (h) y = MatMul (r, w)",
    "an operator of the runtime before others": """h = com.microsoft.Gelu (x) r = Relu (h) a = Add (r, r)
        y = MatMul (a, w)""",
}


def test_a_result_that_stays_in_32_bits_is_cast_where_others_take_it_in_16() -> None:
    for nodes in WIDE_RESULTS.values():
        weights = {
            "w": weight(16, 16),
            "g": numpy.ones(16, numpy.float32),
            **{name: numpy.array([number]) for name, number in (("t", 1),)},
        }
        text = f"(float[4,16] x) => (float[4,16] y) {{ {nodes} }}"
        model = onnx_model(text, weights=weights, opsets={"": 17, "com.microsoft": 1})
        draft = Draft(proto=onnx.shape_inference.infer_shapes(model), data_folder=Path())
        Float16().quantize(draft)
        made = onnx.load_from_string(draft.finish())
        (sample,) = samples_for(model, count=1)
        for is_optimized in (False, True):
            pair = run(model, sample)["y"], run(made, sample, is_optimized=is_optimized)["y"]
            assert decibels([pair]) > 50
        assert TensorProto.FLOAT16 in {tensor.data_type for tensor in made.graph.initializer}


@pytest.mark.parametrize(("name", "kept"), [("first", "a"), ("a", "a"), ("b", "b")])
def test_a_node_is_excluded_by_its_name_or_by_what_it_gives(name: str, kept: str) -> None:
    made = half(
        "(float[4,16] x) => (float[4,16] y) { [first] a = MatMul (x, w) b = MatMul (a, v) y = Relu (b) }",
        quantizer=Float16(exclude=(name,)),
        w=weight(16, 16),
        v=weight(16, 16),
    )
    kinds = {name: made.constants[name].dtype.name for name in ("w", "v")}
    assert kinds == ({"w": "float32", "v": "float16"} if kept == "a" else {"w": "float16", "v": "float32"})
    assert list(made.reasons.values()) == ["excluded by the configuration"]


def test_operators_that_are_kept_are_noted_and_unknown_names_refused() -> None:
    with pytest.raises(ConfigError, match="exclude: the model has no node 'q'"):
        half(TWO, quantizer=Float16(exclude=("q",)), w=weight(16, 32), v=weight(16, 32))
    made = half(
        "(float[4,16] x) => (float[4,16] y) { a = MatMul (x, w) y = Mul (a, v) }",
        quantizer=Float16(keep_operators=("Mul",)),
        w=weight(16, 16),
        v=weight(16),
    )
    assert made.reasons == {"y": "its operator stays in 32 bits by the configuration"}
    model = onnx_model(
        """(float[4] x) => (float[4] y) {
            q = QuantizeLinear (x, s, z) d = DequantizeLinear (q, s, z) y = Mul (d, w)
        }""",
        weights={"s": numpy.array(0.1, numpy.float32), "z": numpy.array(0, numpy.int8), "w": weight(4)},
    )
    with pytest.raises(ModelError, match="nothing to quantize: the model is quantized already"):
        outcome(model, Float16())


def test_integer_nodes_among_those_that_know_no_float16_are_not_noted() -> None:
    model = onnx_model(
        """(float[4,16] x, int64[4] k) => (float[4,16] y, int64[4] m) {
            m = Max (k, k) y = MatMul (x, w)
        }""",
        weights={"w": weight(16, 16)},
    )
    draft = Draft(proto=inferred(model), data_folder=Path())
    Float16().quantize(draft)
    assert draft.left == []


def test_a_branch_of_a_branch_takes_floats_from_outside() -> None:
    made = half(
        """(float[4,16] x, bool[1] p) => (float[4,16] y) {
            a = MatMul (x, w)
            c = Squeeze (p)
            b = If (c) <then_branch = t () => (float[4,16] d) {
                    d = If (c) <then_branch = u () => (float[4,16] e) { e = Mul (a, s) },
                                else_branch = v () => (float[4,16] f) { f = Max (a, x) }>
                }, else_branch = z () => (float[4,16] g) { g = Neg (a) }>
            y = Add (b, x)
        }""",
        w=weight(16, 16),
        s=weight(16),
    )
    assert made.reasons == {"b": "its branches or body compute in 32 bits"}
