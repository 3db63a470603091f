"""Weights alone in integers: MatMulNBits for matrices, GatherBlockQuantized for tables."""

from pathlib import Path
from typing import Any

import numpy
import onnx
import pytest
from numpy.typing import NDArray

from packager.core.errors import ConfigError, SettingError
from packager.graph import traversal
from packager.quantization.calibration.moments_child import MomentsJob, add_up, file_name
from packager.quantizers import Calibration
from packager.quantizers.weight_only import WeightOnly
from tests.cases.calibration_cases import READER, written
from tests.cases.onnx_text import onnx_model
from tests.cases.rewriting_cases import Outcome, drafted, outcome, run, samples_for, weight


@pytest.mark.parametrize(("bits", "least"), [(4, 15), (8, 38)])
@pytest.mark.parametrize(
    "layer",
    [
        "MatMul (x, w)",
        "Gemm (x, w)",
        "Gemm (x, w, b)",
        "Gemm <transB = 1> (x, w, b)",
        "Gemm <transA = 1> (x, w, b)",
        "Gemm <transA = 1, transB = 1> (x, w)",
    ],
)
def test_matrices_in_blocks_compute_nearly_the_same(layer: str, bits: Any, least: float) -> None:
    model = onnx_model(
        f"(float[32,32] x) => (float[32,32] y) {{ y = {layer} }}", weights={"w": weight(32, 32), "b": weight(32)}
    )
    samples = samples_for(model)
    made = outcome(model, WeightOnly(bits=bits), samples)
    assert made.operators.count("MatMulNBits") == 1
    assert made.decibels(samples[0]) > least
    assert made.decibels(samples[0], is_optimized=False) > least


@pytest.mark.parametrize("level", [0, 1, 4])
def test_what_it_multiplies_in_is_written_unless_the_runtime_chooses(level: Any) -> None:
    model = onnx_model("(float[4,32] x) => (float[4,8] y) { y = MatMul (x, w) }", weights={"w": weight(32, 8)})
    samples = samples_for(model)
    made = outcome(model, WeightOnly(accuracy_level=level), samples)
    found = {each.name: each.i for each in made.node("MatMulNBits").attribute}
    assert found == {"K": 32, "N": 8, "bits": 4, "block_size": 32, **({"accuracy_level": level} if level else {})}
    assert made.decibels(samples[0]) > 14


def test_why_a_layer_stays_in_float_is_noted() -> None:
    model = onnx_model(
        """(float[1,4,8,8] x) => (float[1,4,8,8] y) {
            a = Conv (x, k) b = MatMul (a, batch) c = MatMul (b, w) y = MatMul (c, w)
        }""",
        weights={"k": weight(4, 4, 1, 1), "batch": weight(4, 8, 8), "w": weight(8, 8)},
    )
    made = outcome(model, WeightOnly(exclude=("y",)))
    assert made.operators == ["Conv", "MatMul", "MatMulNBits", "MatMul"]
    assert made.reasons == {
        "y": "excluded by the configuration",
        "a": "there is no operator for it with weights in blocks",
        "b": "its weights are more than one matrix",
    }


@pytest.mark.parametrize("operators", [("MatMul",), ("Gemm",), ("Gather",)])
def test_operators_that_are_not_named_stay(operators: Any) -> None:
    model = onnx_model(
        "(int64[4] i) => (float[4,8] y) { a = Gather (e, i) b = MatMul (a, w) y = Gemm (b, v) }",
        weights={"e": weight(100, 32), "w": weight(32, 16), "v": weight(16, 8)},
    )
    made = outcome(model, WeightOnly(operators=operators))
    expected = {"MatMul": ["MatMulNBits"], "Gemm": ["MatMulNBits"], "Gather": ["GatherBlockQuantized"]}[operators[0]]
    assert [each for each in made.operators if each not in ("MatMul", "Gemm", "Gather")] == expected


@pytest.mark.parametrize("opset", [9, 11, 13, 21, 26])
def test_opsets_of_all_ages_run(opset: int) -> None:
    model = onnx_model(
        "(float[4,32] x) => (float[4,8] y) { y = MatMul (x, w) }",
        weights={"w": weight(32, 8)},
        opsets={"": opset},
        ir_version=10,
    )
    samples = samples_for(model)
    assert outcome(model, WeightOnly(), samples).decibels(samples[0]) > 14


class Silent:
    """A channel that nobody reads."""

    def say(self, value: object) -> None:
        """Drops `value`."""


def compensated(
    folder: Path, model: onnx.ModelProto, quantizer: WeightOnly, samples: list[dict[str, NDArray[Any]]]
) -> tuple[Outcome, dict[str, NDArray[Any]]]:
    """Variant that `quantizer` makes with the moments of `samples`, and these."""
    draft = drafted(model, quantizer)
    widths = quantizer.widths(drafted(model, quantizer))
    graph = folder / "graph.onnx"
    graph.write_bytes(draft.proto.SerializeToString())
    places = [folder / name for name in ("scratch", "moments")]
    for place in places:
        place.mkdir()
    job = MomentsJob(
        graph=str(graph),
        data_folder=str(folder),
        names=list(widths),
        widths=list(widths.values()),
        reader=READER,
        description={"folder": str(written(folder / "samples", samples))},
        count=len(samples),
        threads=1,
        scratch=str(places[0]),
        folder=str(places[1]),
    )
    add_up(job, Silent())  # type: ignore[arg-type]
    draft.moments = {name: places[1] / file_name(number) for number, name in enumerate(widths)}
    quantizer.quantize(draft)
    made = onnx.load_from_string(draft.finish())
    onnx.checker.check_model(made, full_check=True)
    found = {name: numpy.load(path) for name, path in draft.moments.items()}
    return Outcome(original=model, model=made, left=tuple(draft.left)), found


def dequantized(made: Outcome, node: onnx.NodeProto) -> NDArray[Any]:
    """(K, N): the matrix of a MatMulNBits, one number after the other."""
    facts, constants = {each.name: each.i for each in node.attribute}, made.constants
    packed, scales = constants[node.input[1]], constants[node.input[2]]
    zeros = constants[node.input[3]] if len(node.input) > 3 and node.input[3] else None
    matrix = numpy.empty((facts["K"], facts["N"]), numpy.float32)
    for k in range(facts["K"]):
        block, place = divmod(k, facts["block_size"])
        for n in range(facts["N"]):
            if facts["bits"] == 8:
                number, zero = int(packed[n, block, place]), 128
            else:
                number = int(packed[n, block, place // 2]) >> place % 2 * 4 & 15
                zero = 8 if zeros is None else int(zeros[n, block // 2]) >> block % 2 * 4 & 15
            matrix[k, n] = numpy.float32(number - zero) * scales[n, block]
    return matrix


def correlated(count: int, rows: int, width: int) -> list[dict[str, NDArray[Any]]]:
    """Inputs whose numbers follow from a few, as those of trained layers nearly do."""
    random = numpy.random.default_rng(7)
    mixed = random.normal(size=(width // 8, width))
    made = [
        random.normal(size=(rows, width // 8)) @ mixed + random.normal(size=(rows, width)) / 10 for _ in range(count)
    ]
    return [{"x": each.astype(numpy.float32)} for each in made]


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("layer", ["MatMul (x, w)", "Gemm <transB = 1> (x, w, b)"])
def test_gptq_loses_less_than_rounding_and_means_what_the_runtime_computes(
    tmp_path: Path, layer: str, symmetric: bool
) -> None:
    model = onnx_model(
        f"(float[16,48] x) => (float[16,48] y) {{ y = {layer} }}", weights={"w": weight(48, 48), "b": weight(48)}
    )
    samples = correlated(20, 16, 48)
    calibrated = WeightOnly(calibration=Calibration(samples="not read"), symmetric=symmetric, block_size=16)
    made, moments = compensated(tmp_path, model, calibrated, samples[:16])
    (found,) = moments.values()
    expected = sum(each["x"].astype(float).T @ each["x"] for each in samples[:16])
    numpy.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-2)
    rounded = outcome(model, WeightOnly(symmetric=symmetric, block_size=16), samples[:1])
    for sample in samples[16:]:
        assert made.decibels(sample) > rounded.decibels(sample) + 3
    node, bias = made.node("MatMulNBits"), weight(48) if "b)" in layer else numpy.zeros(48)
    assert bool(len(node.input) > 3 and node.input[3]) is not symmetric
    for each in (made, rounded):
        product = samples[0]["x"].astype(float) @ dequantized(each, each.node("MatMulNBits")) + bias
        numpy.testing.assert_allclose(run(each.model, samples[0])["y"], product, rtol=1e-4, atol=1e-4)


def test_nodes_that_are_named_take_8_bits() -> None:
    model = onnx_model(
        "(float[4,32] x) => (float[4,32] y) { a = MatMul (x, w) y = MatMul (a, v) }",
        weights={"w": weight(32, 32), "v": weight(32, 32)},
    )
    made = outcome(model, WeightOnly(eight_bits=("a",)))
    bits = [next(each.i for each in node.attribute if each.name == "bits") for node in made.model.graph.node]
    assert bits == [8, 4]
    with pytest.raises(ConfigError, match=r"^eight-bits: the model has no node 'q'"):
        outcome(model, WeightOnly(eight_bits=("q",)))
    with pytest.raises(SettingError, match="needs a calibration"):
        WeightOnly(method="gptq")
    with pytest.raises(SettingError, match="'entropy' would be ignored"):
        WeightOnly(calibration=Calibration(samples="not read", method="entropy"))


def test_matrices_that_lose_the_most_take_8_bits_while_the_file_has_room(tmp_path: Path) -> None:
    """The inputs of `a` are ten times those of `c`, whose matrix is twice as large."""
    model = onnx_model(
        """(float[16,64] x, float[16,64] z) => (float[16,32] a, float[16,64] c) {
            a = MatMul (x, w) c = MatMul (z, v)
        }""",
        weights={"w": weight(64, 32), "v": weight(64, 64)},
    )
    samples = [{"x": 10 * one["x"], "z": two["x"]} for one, two in zip(*[iter(correlated(8, 16, 64))] * 2, strict=True)]
    sizes = {}
    for size_mb, expected in ((0.0048, [4, 4]), (0.0062, [8, 4]), (0.01, [8, 8])):
        recipe = WeightOnly(calibration=Calibration(samples="not read"), max_size_mb=size_mb)
        (folder := tmp_path / str(size_mb)).mkdir()
        made, _ = compensated(folder, model, recipe, samples)
        nodes = [node for node in made.model.graph.node if node.op_type == "MatMulNBits"]
        assert [next(each.i for each in node.attribute if each.name == "bits") for node in nodes] == expected
        sizes[size_mb] = made.model.ByteSize()
    assert all(size <= size_mb * 1e6 for size_mb, size in sizes.items()), sizes
    with pytest.raises(ConfigError, match=r"^max-size-mb 0.001: the file takes about 0.0 MB with 4 bits everywhere"):
        outcome(model, WeightOnly(max_size_mb=0.001))
    left = onnx_model(
        "(float[64,4] x) => (float[64,32] y) { a = MatMul (u, x) y = MatMul (a, v) }",
        weights={"u": weight(64, 64), "v": weight(4, 32)},
    )
    with pytest.raises(ConfigError, match=r"^max-size-mb 0.012: the file takes"):  # `u` stays in float: 16 kB
        outcome(left, WeightOnly(max_size_mb=0.012))
    with pytest.raises(SettingError, match="chooses between 4 and 8 bits"):
        WeightOnly(bits=8, max_size_mb=1)


@pytest.mark.parametrize("bits", [4, 8])
def test_a_table_that_is_also_the_head_is_stored_once(bits: Any) -> None:
    model = onnx_model(
        """(int64[1,N] i) => (float[1,N,64] e, float[N,100] y) {
            e = Gather (t, i) s = Constant <value_ints = [-1, 64]> () x = Reshape (e, s) y = Gemm <transB = 1> (x, t)
        }""",
        weights={"t": weight(100, 64)},
    )
    made = outcome(model, WeightOnly(bits=bits))
    assert made.node("GatherBlockQuantized").input[0] == made.node("MatMulNBits").input[1]
    table = dequantized(made, made.node("MatMulNBits")).T
    given: list[list[list[int]]] = [[[3, 99, 0, 3]], [[]]]
    for ids in given:
        numpy.testing.assert_array_equal(
            run(made.model, {"i": numpy.array(ids, numpy.int64)})["e"], table[numpy.array(ids, numpy.int64)]
        )


def test_layers_in_branches_take_weights_of_the_main_graph_and_of_their_own() -> None:
    """As decoders with an encoder have them: both branches multiply with the same weight."""
    model = onnx_model(
        """(bool first, float[4,32] x, int64[1,3] i) => (float[4,32] y, float[1,3,64] e) {
            y = If (first) <
                then_branch = one () => (float[4,32] p) { a = MatMul (x, w) p = MatMul (a, v) },
                else_branch = two () => (float[4,32] q) {
                    own = Constant <value = float[32,32] {SPACE}> () b = MatMul (x, w) q = MatMul (b, own)
                }
            >
            e = If (first) <
                then_branch = three () => (float[1,3,64] r) { r = Gather (t, i) },
                else_branch = four () => (float[1,3,64] s) { s = Gather (t, i) }
            >
        }""".replace("SPACE", ", ".join(f"{each:.4f}" for each in weight(32, 32).reshape(-1))),
        weights={"w": weight(32, 32) / 4, "v": weight(32, 32), "t": weight(100, 64)},
    )
    samples = [
        {**samples_for(model)[0], "i": numpy.array([[0, 99, 5]]), "first": numpy.array(each)} for each in (True, False)
    ]
    made = outcome(model, WeightOnly(bits=8), samples)
    operators = [node.op_type for node in traversal.all_nodes(made.model)]
    assert [operators.count(each) for each in ("MatMulNBits", "GatherBlockQuantized")] == [4, 2]
    assert all(made.decibels(sample) > 35 for sample in samples)
    assert "w" not in made.constants
