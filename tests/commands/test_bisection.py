"""Faults planted in one of two models, and the node that a bisection names."""

import hashlib
import json
import zipfile
from pathlib import Path

import numpy
import onnx
import onnx.checker
import onnx.numpy_helper
import onnxruntime
import pytest
from hypothesis import HealthCheck, given, settings, strategies

from packager.core.errors import ModelError
from packager.graph.weights.places import refer
from packager.quantizers.float16 import Float16
from packager.verification.bisection import BisectionKind
from packager.verification.bisection.repro import ReproCase, leave
from packager.verification.bisection.subject import opened
from tests.cases.bisection_cases import (
    GELU,
    LAYERS,
    WIDTH,
    Array,
    Inside,
    Spoiling,
    bisected,
    branching,
    chain,
    overflowing,
    reproduced,
    side,
    x,
)
from tests.cases.onnx_text import onnx_model, quantized_by, weight
from tests.cases.random_nets import nets
from tests.cases.rewriting_cases import outcome, run, samples_for, static


def test_a_changed_weight_is_found_and_the_table_ends_with_its_node(tmp_path: Path) -> None:
    found = bisected(tmp_path, side(tmp_path, chain(), "a"), side(tmp_path, chain(changed=11)), x())
    assert (found.kind, found.node, found.operator, found.value) == (BisectionKind.NODE, "layer11", "MatMul", "m11")
    assert found.local_error
    assert found.local_error.max_rel_error > 0.01
    assert "'layer11' (MatMul)" in found.words
    assert found.words.endswith(", on the sample")
    found = bisected(tmp_path, side(tmp_path, chain(), "a"), side(tmp_path, chain(changed=3)), x())
    assert [row.value for row in found.layers] == ["m0", "v0", "m1", "v1", "m2", "v2", "m3"]
    assert [row.max_rel_error for row in found.layers[:-1]] == [0] * 6
    assert {row.local_rel_error for row in found.layers[:-1]} == {None}
    assert found.layers[-1].local_rel_error == found.layers[-1].max_rel_error


def test_outputs_that_agree_leave_a_table_and_no_evidence(tmp_path: Path) -> None:
    found = bisected(tmp_path, side(tmp_path, chain(), "a"), side(tmp_path, chain()), x())
    assert (found.kind, found.node, found.repro) == (BisectionKind.AGREEMENT, None, None)
    assert len(found.layers) == 2 * LAYERS
    assert not (tmp_path / "evidence").exists()


def test_a_node_that_enlarges_what_it_is_given_is_not_at_fault(tmp_path: Path) -> None:
    def model(first: float) -> onnx.ModelProto:
        return onnx_model(
            f"(float[1, 8] x) => (float[1, 8] y) <float a = {{{first}}}, float b = {{100.0}}, float k = {{50.0}}>"
            "{ s = Add (x, a) d = Sub (s, b) y = Mul (d, k) }"
        )

    found = bisected(tmp_path, side(tmp_path, model(100), "a"), side(tmp_path, model(100.008)), x())
    assert (found.kind, found.node, found.value) == (BisectionKind.GROWTH, None, "y")
    assert [row.value for row in found.layers] == ["s", "d", "y"]
    shares = [row.local_rel_error for row in found.layers]
    assert [bool(share) for share in shares] == [True, False, False]
    assert found.layers[-1].max_rel_error > 1e-3
    assert "no single node" in found.words
    assert "'s' (Add)" in found.words


BRANCHES = "a = Relu (x) b = Neg (x) c = MatMul (a, w) d = MatMul (b, u) y = Add (c, d)"


@pytest.mark.parametrize(("name", "value"), [("w", "c"), ("u", "d")])
def test_the_branch_with_the_fault_is_named(name: str, value: str, tmp_path: Path) -> None:
    weights = {"w": weight(WIDTH, WIDTH), "u": weight(WIDTH, WIDTH, seed=1)}
    changed = {**weights, name: weight(WIDTH, WIDTH, seed=2)}
    models = [onnx_model(f"(float[1, 8] x) => (float[1, 8] y) {{ {BRANCHES} }}", weights=w) for w in (weights, changed)]
    found = bisected(tmp_path, side(tmp_path, models[0], "a"), side(tmp_path, models[1]), x())
    assert (found.node, found.value) == (value, value)  # without a name a node is called after its output


def test_nan_on_one_sample_of_many_is_found_there(tmp_path: Path) -> None:
    def model(power: float) -> onnx.ModelProto:
        return onnx_model(
            f"(float[4] x) => (float[4] y) <float p = {{{power}}}> {{ a = Abs (x) s = Mul (x, a) [power] q = Pow (s, p)"
            " y = Tanh (q) }"
        )

    ones = {"x": numpy.ones(4, numpy.float32)}
    inputs = [ones] * 40 + [{"x": numpy.array([1, 1, -2, 1], numpy.float32)}] + [ones] * 20
    found = bisected(tmp_path, side(tmp_path, model(2), "a"), side(tmp_path, model(2.5)), inputs)
    assert (found.kind, found.node, found.sample) == (BisectionKind.NODE, "power", 40)
    assert found.local_error
    assert found.local_error.mismatch_count == 1
    assert "NaN or infinity at 1 place " in found.words
    assert found.words.endswith(", on sample 40")
    with numpy.load(tmp_path / "evidence" / "inputs.npz") as arrays:
        assert arrays["s"].tolist() == [1, 1, -4, 1]


def test_a_number_too_large_for_float16_is_found(tmp_path: Path) -> None:
    model = overflowing()
    half = onnx.load_from_string(quantized_by(Float16(), model.SerializeToString(), tmp_path))
    sample = {"x": weight(1, 64)}
    # Between two nodes that only move numbers there are 16 bits on x86, too; elsewhere it has 32.
    b = side(tmp_path, half, is_optimized=False)
    found = bisected(tmp_path, side(tmp_path, model, "a"), b, sample, tolerance=1e-2)
    assert (found.kind, found.node, found.operator, found.value) == (BisectionKind.NODE, "l2", "MatMul", "c")
    assert [row.value for row in found.layers] == ["a", "b", "c"]
    assert "NaN or infinity" in found.words


def convolutions() -> onnx.ModelProto:
    shapes = {"w0": (4, 3, 3, 3), "w1": (4, 4, 3, 3), "w2": (4, 4, 3, 3)}
    weights: dict[str, Array] = {name: weight(*shape, seed=4) for name, shape in shapes.items()}
    weights = {name: array / 5 for name, array in weights.items()}
    return onnx_model(
        "(float[1, 3, 8, 8] x) => (float[1, 4, 8, 8] y) {"
        "[conv0] a = Conv <pads = [1, 1, 1, 1]> (x, w0) [relu0] b = Relu (a)"
        "[conv1] c = Conv <pads = [1, 1, 1, 1]> (b, w1) [relu1] d = Relu (c)"
        "[conv2] y = Conv <pads = [1, 1, 1, 1]> (d, w2) }",
        weights=weights,
    )


def test_a_changed_weight_in_a_quantized_variant_is_found(tmp_path: Path) -> None:
    model = convolutions()
    inputs = samples_for(model)
    variant = outcome(model, static(), inputs).model
    tensor = next(each for each in variant.graph.initializer if each.name.startswith("w1") and each.data_type == 3)
    numbers = onnx.numpy_helper.to_array(tensor).copy()
    numbers[0] = numpy.flip(numbers[0]) // 2
    tensor.CopyFrom(onnx.numpy_helper.from_array(numbers, tensor.name))
    found = bisected(tmp_path, side(tmp_path, model, "a"), side(tmp_path, variant), inputs, tolerance=5e-2)
    assert (found.kind, found.node, found.operator) == (BisectionKind.NODE, "conv1", "Conv")
    operators = {node.op_type for node in onnx.load(tmp_path / "evidence" / "node.onnx").graph.node}
    assert {"DequantizeLinear", "Conv"} <= operators


def test_a_good_variant_has_a_table_with_the_noise_of_every_layer(tmp_path: Path) -> None:
    model = convolutions()
    inputs = samples_for(model)
    variant = outcome(model, static(), inputs).model
    found = bisected(tmp_path, side(tmp_path, model, "a"), side(tmp_path, variant), inputs, tolerance=5e-2)
    assert found.kind is BisectionKind.AGREEMENT
    assert [row.node for row in found.layers] == ["conv0", "conv1", "conv2"]
    assert all(15 < row.sqnr_db < 60 for row in found.layers)


TWO = "(float[2, 8] x) => (float[2, 8] {}, float[2, 8] {}, float[2, 8] t) {{ {} t = Neg (x) }}"


def test_outputs_in_another_order_or_swapped_are_named(tmp_path: Path) -> None:
    nodes = "y = Relu (x) z = Tanh (x)"
    models = [onnx_model(TWO.format(first, second, nodes)) for first, second in ("yz", "zy")]
    found = bisected(tmp_path, side(tmp_path, models[0], "a"), side(tmp_path, models[1]), x(2, WIDTH))
    assert (found.kind, found.node) == (BisectionKind.ORDER, None)
    assert "output 0 ('z') is output 1 ('z'), its output 1 ('y') is output 0 ('y')" in found.words
    texts = ("[r] y = Relu (x) [t] z = Tanh (x)", "[t] y = Tanh (x) [r] z = Relu (x)")
    models = [onnx_model(TWO.format("y", "z", text)) for text in texts]
    found = bisected(tmp_path, side(tmp_path, models[0], "a"), side(tmp_path, models[1]), x(2, WIDTH))
    assert (found.kind, found.node, found.value) == (BisectionKind.ORDER, "r", "y")
    assert "output 0 ('y') is output 1 ('z')" in found.words


def test_one_wrong_output_is_no_matter_of_order(tmp_path: Path) -> None:
    texts = ("y = Relu (x) z = Tanh (x)", "y = Tanh (x) z = Tanh (x)")
    models = [onnx_model(TWO.format("y", "z", text)) for text in texts]
    found = bisected(tmp_path, side(tmp_path, models[0], "a"), side(tmp_path, models[1]), x(2, WIDTH))
    assert (found.kind, found.node) == (BisectionKind.NODE, "y")
    graph = "(float[2, 8] x) => (float[2, 8] y, float[2, 8] z, float[2, 8] t) {{ {} }}"
    texts = ("y = Relu (x) z = Tanh (x) t = Neg (x)", "y = Tanh (x) z = Relu (x) t = Abs (x)")
    models = [onnx_model(graph.format(text)) for text in texts]
    found = bisected(tmp_path, side(tmp_path, models[0], "a"), side(tmp_path, models[1]), x(2, WIDTH))
    assert (found.kind, found.node) == (BisectionKind.NODE, "y")


def test_the_sample_is_the_one_on_which_outputs_are_the_farthest_apart(tmp_path: Path) -> None:
    models = [onnx_model(f"(float[2] x) => (float[2] y) {{ y = {name} (x) }}") for name in ("Relu", "LeakyRelu")]
    inputs = [{"x": numpy.array([2, low], numpy.float32)} for low in (0, -1, -3, -2)]
    found = bisected(tmp_path, side(tmp_path, models[0], "a"), side(tmp_path, models[1]), inputs)
    assert found.sample == 2
    assert found.local_error
    assert found.local_error.worst_sample == 2


def test_nodes_may_come_in_any_order(tmp_path: Path) -> None:
    models = [chain(changed=changed) for changed in (None, 11)]
    nodes = list(models[1].graph.node)[::-1]
    del models[1].graph.node[:]
    models[1].graph.node.extend(nodes)
    found = bisected(tmp_path, side(tmp_path, models[0], "a"), side(tmp_path, models[1]), x())
    assert found.node == "layer11"


def test_a_sample_that_one_side_refuses_leads_to_the_node_that_stops_it(tmp_path: Path) -> None:
    def model(size: int) -> onnx.ModelProto:
        return onnx_model(
            f"(float[n, 8] x) => (float[n, m] y) <int64[2] s = {{{size}, 4}}> {{ a = Relu (x) [turn] r = Reshape (a, s)"
            " y = Neg (r) }"
        )

    found = bisected(tmp_path, side(tmp_path, model(-1), "a"), side(tmp_path, model(2)), [x(1, 8), x(3, 8), x(1, 8)])
    assert (found.kind, found.node, found.sample) == (BisectionKind.REFUSAL, "turn", 1)
    assert "does not run on sample 1" in found.words
    with numpy.load(tmp_path / "evidence" / "actual.npz") as arrays:
        assert arrays.files == []


def test_a_fusion_is_told_from_a_node_on_either_side(tmp_path: Path) -> None:
    # ONNX Runtime's Gelu differs from its nodes in the last bit; the tolerance here makes that a fault.
    model = onnx_model(GELU, weights={"w": weight(32, 32)})
    a, b = side(tmp_path, model, "a", is_optimized=False), side(tmp_path, model)
    found = bisected(tmp_path, a, b, x(4, 32), tolerance=1e-9)
    assert found.kind is BisectionKind.FUSION
    assert (found.node, found.value) == ("g0", "b")
    assert "b is right without graph optimizations" in found.words
    assert "'g0' to 'g3'" in found.words
    assert [node.name for node in onnx.load(tmp_path / "evidence" / "node.onnx").graph.node] == [
        f"g{i}" for i in range(5)
    ]
    assert found.local_error
    assert found.local_error.max_rel_error > 1e-9
    a, b = side(tmp_path, model, "a"), side(tmp_path, model, is_optimized=False)
    found = bisected(tmp_path, a, b, x(4, 32), tolerance=1e-9)
    assert (found.kind, found.node) == (BisectionKind.FUSION, "g0")
    assert "a is right without graph optimizations" in found.words
    a, b = side(tmp_path, model, "a", is_optimized=False), side(tmp_path, model, runner=Spoiling())
    found = bisected(tmp_path, a, b, x(4, 32))
    assert (found.kind, found.node, found.repro) == (BisectionKind.FUSION, None, None)
    assert found.words.startswith("the nodes of b are right without optimizations: the rewrites of its runtime ")


def test_a_thousand_nodes_take_a_few_sessions(tmp_path: Path) -> None:
    runner = Inside()
    a = side(tmp_path, chain(layers=500), "a", runner=runner)
    found = bisected(tmp_path, a, side(tmp_path, chain(layers=500, changed=420), runner=runner), x())
    assert found.node == "layer420"
    assert len(runner.opened) <= 6


@pytest.mark.parametrize("memory_bytes", [1, 20_000, 200_000])
def test_values_on_disk_stay_below_the_limit_or_are_those_of_one_node(memory_bytes: int, tmp_path: Path) -> None:
    rows = 64
    one = 4 * rows * WIDTH
    runner = Inside(watched=tmp_path / "scratch")
    a = side(tmp_path, chain(rows=rows), "a", runner=runner)
    b = side(tmp_path, chain(rows=rows, changed=15), runner=runner)
    found = bisected(tmp_path, a, b, x(rows, WIDTH), memory_bytes=memory_bytes)
    assert found.node == "layer15"
    headers, outputs = 200, 4 * one  # final outputs of both, of the sample at hand and of the worst
    assert max(runner.sizes) <= max(memory_bytes, 4 * 2 * one) * 1.1 + outputs + 10 * headers


def test_sizes_that_only_a_run_shows_are_learnt(tmp_path: Path) -> None:
    def model(limit: float) -> onnx.ModelProto:
        return onnx_model(
            f"(float[n] x) => (float[k] y) <float low = {{0.0}}, int64[1] s = {{-1}}, float c = {{{limit}}}> {{"
            "g = Greater (x, low) i = NonZero (g) f = Reshape (i, s) p = Gather (x, f) [add] q = Add (p, c)"
            " y = Relu (q) }"
        )

    a, b = side(tmp_path, model(1), "a"), side(tmp_path, model(2))
    found = bisected(tmp_path, a, b, x(100), memory_bytes=1)
    assert (found.kind, found.node) == (BisectionKind.NODE, "add")


def test_indices_that_differ_are_a_fault_of_the_node_that_gives_them(tmp_path: Path) -> None:
    def model(axis: int) -> onnx.ModelProto:
        return onnx_model(
            "(float[8, 8] x) => (float[8] y) { [top] i = ArgMax <axis = AXIS, keepdims = 0> (x)"
            " y = Cast <to = 1> (i) }".replace("AXIS", str(axis))
        )

    found = bisected(tmp_path, side(tmp_path, model(0), "a"), side(tmp_path, model(1)), x(8, 8))
    assert (found.kind, found.node, found.operator) == (BisectionKind.NODE, "top", "ArgMax")
    assert found.local_error
    assert f"{found.local_error.mismatch_count} of 8 values" in found.words


def test_texts_are_compared_and_sequences_left_out(tmp_path: Path) -> None:
    def model(first: int) -> onnx.ModelProto:
        return onnx_model(
            f"(string[2] x) => (string[2] y) <int64[2] i = {{{first}, 1}}>"
            " { a = Identity (x) [pick] y = Gather (a, i) }"
        )

    words = {"x": numpy.array(["word", "two"])}
    found = bisected(tmp_path, side(tmp_path, model(0), "a"), side(tmp_path, model(1)), words)
    assert (found.kind, found.node) == (BisectionKind.NODE, "pick")
    assert "1 of 2 values" in found.words
    assert reproduced(tmp_path / "evidence").count("1 of 2 values") == 2

    def model_of(split: int) -> onnx.ModelProto:
        return onnx_model(
            f"(float[4, 8] x) => (float[8] y) <int64 n = {{1}}, int64 k = {{{split}}}> {{ a = Relu (x)"
            " s = SplitToSequence <axis = 0, keepdims = 0> (a, n) [at] y = SequenceAt (s, k) }"
        )

    found = bisected(tmp_path, side(tmp_path, model_of(0), "a"), side(tmp_path, model_of(1)), x(4, 8))
    assert (found.kind, found.node) == (BisectionKind.NODE, "at")
    assert found.notes == ("'s' is not a tensor but a sequence",)
    graph = onnx.load(tmp_path / "evidence" / "node.onnx").graph
    assert [node.op_type for node in graph.node] == ["SplitToSequence", "SequenceAt"]


def test_branches_and_every_output_of_a_node_are_compared(tmp_path: Path) -> None:
    sample = {**x(), "c": numpy.array(True)}
    found = bisected(tmp_path, side(tmp_path, branching(2), "a"), side(tmp_path, branching(3)), sample)
    assert (found.kind, found.node, found.operator) == (BisectionKind.NODE, "branch", "If")
    with numpy.load(tmp_path / "evidence" / "inputs.npz") as arrays:
        assert sorted(arrays.files) == ["a", "c"]  # what its branches take counts, too

    def model(k: int) -> onnx.ModelProto:
        return onnx_model(
            f"(float[1, 8] x) => (float[1, 6] y) <int64[2] n = {{2, 6}}> {{ [split] p, q = Split <axis = 1> (x, n)"
            f" o = Neg (p) y = {'Relu' if k else 'Abs'} (q) }}"
        )

    found = bisected(tmp_path, side(tmp_path, model(0), "a"), side(tmp_path, model(1)), x())
    assert found.node == "y"
    assert [row.value for row in found.layers] == ["p", "q", "o", "y"]


def test_values_that_share_no_more_than_a_name_are_left_out(tmp_path: Path) -> None:
    """The second graph has the same name for the transposed value."""
    w = weight(WIDTH, WIDTH)
    a = onnx_model(
        "(float[2, 8] x) => (float[2, 8] y) { a = Neg (x) b = Tanh (a) y = MatMul (b, w) }", weights={"w": w}
    )
    b = onnx_model(
        "(float[2, 8] x) => (float[2, 8] y) { n = Neg (x) a = Transpose (n) t = Tanh (a) b = Transpose (t)"
        " y = MatMul (b, w) }",
        weights={"w": w + numpy.eye(WIDTH, dtype=numpy.float32)},
    )
    found = bisected(tmp_path, side(tmp_path, a, "a"), side(tmp_path, b), x(2, WIDTH))
    assert (found.kind, found.node) == (BisectionKind.NODE, "y")
    assert found.notes == ("'a' has another shape or type on the two sides",)
    assert [row.value for row in found.layers] == ["b", "y"]


@settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
@given(model=nets(), choice=strategies.integers(0, 99))
def test_a_weight_changed_in_any_net_leads_to_a_node_that_takes_it(
    model: onnx.ModelProto, choice: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    tmp_path = tmp_path_factory.mktemp("net")
    changed = onnx.ModelProto()
    changed.CopyFrom(model)
    tensors = [*changed.graph.initializer]
    tensors += [each.t for node in changed.graph.node if node.op_type == "Constant" for each in node.attribute]
    tensors = [each for each in tensors if each.data_type == 1 and len(each.dims) > 1]
    tensor = tensors[choice % len(tensors)]
    array = onnx.numpy_helper.to_array(tensor)
    tensor.CopyFrom(onnx.numpy_helper.from_array(array * 2 + array.std(), tensor.name))
    found = bisected(
        tmp_path, side(tmp_path, model, "a"), side(tmp_path, changed), samples_for(model, 1)[0], tolerance=1e-3
    )
    takers = {node.name or node.output[0] for node in model.graph.node if tensor.name in node.input}
    if found.kind is not BisectionKind.AGREEMENT:
        assert found.kind is BisectionKind.NODE
        assert found.node in takers


def test_the_program_that_is_left_shows_the_difference_with_the_same_bytes(tmp_path: Path) -> None:
    found = bisected(tmp_path, side(tmp_path, chain(), "a"), side(tmp_path, chain(changed=11)), x())
    assert found.repro == tmp_path / "evidence"
    assert found.local_error
    recorded, here = reproduced(found.repro).splitlines()
    assert recorded.startswith("recorded, b: 'm11' is off by ")
    assert here.startswith("here, ONNX Runtime's CPU provider: 'm11' is off by ")
    for line in (recorded, here):
        assert float(line.split("off by ")[1].split(",")[0]) == pytest.approx(found.local_error.max_abs_error, rel=1e-4)
    digests = []
    for name in ("one", "two"):
        folder = tmp_path / name
        bisected(folder, side(folder, chain(), "a"), side(folder, chain(changed=11)), x())
        files = sorted((folder / "evidence").iterdir())
        digests.append([hashlib.sha256(file.read_bytes()).hexdigest() for file in files])
    assert digests[0] == digests[1]


def test_what_is_left_is_valid_alone_and_complete(tmp_path: Path) -> None:
    found = bisected(tmp_path, side(tmp_path, chain(), "a"), side(tmp_path, chain(changed=11)), x())
    assert found.repro
    assert sorted(path.name for path in found.repro.iterdir()) == [
        "README.txt", "actual.npz", "expected.npz", "inputs.npz", "node.onnx", "reproduce.py", "session.json",
    ]  # fmt: skip
    node = onnx.load(found.repro / "node.onnx")
    onnx.checker.check_model(node, full_check=True)
    assert [(each.name, list(each.input)) for each in node.graph.node] == [("layer11", ["v10", "w11"])]
    assert [each.name for each in node.graph.initializer] == ["w11"]
    assert found.words in (found.repro / "README.txt").read_text()
    assert json.loads((found.repro / "session.json").read_text())["runner"] == "b"
    session = onnxruntime.InferenceSession(found.repro / "node.onnx", providers=["CPUExecutionProvider"])
    with numpy.load(found.repro / "inputs.npz") as inputs, numpy.load(found.repro / "actual.npz") as actual:
        (result,) = session.run(["m11"], dict(inputs))
        assert numpy.array_equal(result, actual["m11"])


def test_all_bytes_of_large_weights_lie_beside_the_node(tmp_path: Path) -> None:
    model = onnx_model("(float[1, 8] x) => (float[1, 64] y) { y = MatMul (x, w) }", weights={"w": weight(8, 64)})
    path = side(tmp_path, model)
    expected = {"y": numpy.zeros((1, 64), numpy.float32)}
    case = ReproCase(
        piece=model,
        subject=opened(path, tmp_path),
        reference="a",
        inputs=x(),
        expected=expected,
        actual={},
        words="It is wrong.",
    )
    folder = leave(case, tmp_path / "left", inside_bytes=100)
    with zipfile.ZipFile(folder / "inputs.npz") as archive:
        assert {each.date_time for each in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
    assert (folder / "node-1.weights").stat().st_size == 8 * 64 * 4
    assert (folder / "node.onnx").stat().st_size < 8 * 64 * 4
    recorded, here = reproduced(folder).splitlines()
    assert recorded == "recorded, b: 'y' is off by nothing, it was refused"
    assert "off by 0," not in here


@pytest.mark.parametrize("is_optimized", [False, True])
def test_the_program_that_is_left_optimizes_as_the_side_did(is_optimized: bool, tmp_path: Path) -> None:
    model = onnx_model(GELU, weights={"w": weight(32, 32)})
    feed = x(4, 32)
    plain = run(model, feed, is_optimized=False)
    case = ReproCase(
        piece=model,
        subject=opened(side(tmp_path, model, is_optimized=is_optimized), tmp_path),
        reference="a",
        inputs=feed,
        expected=plain,
        actual=plain,
        words="It is wrong.",
    )
    recorded, here = reproduced(leave(case, tmp_path / "left")).splitlines()
    assert "off by 0," in recorded
    assert ("off by 0," in here) is not is_optimized


def test_the_program_that_is_left_opens_the_node_with_the_settings_of_the_side(tmp_path: Path) -> None:
    settings = {"session.intra_op_thread_affinities": "nonsense"}
    b = side(tmp_path, chain(changed=5), settings=settings)
    found = bisected(tmp_path, side(tmp_path, chain(), "a"), b, x())
    assert found.repro
    assert "here: ONNX Runtime refuses it: " in reproduced(found.repro)


def test_weights_stay_in_their_files(tmp_path: Path) -> None:
    """External ones are read where they lie, and those of the node at fault go with it."""
    models = []
    for name, changed in (("a", None), ("b", 2)):
        model = chain(changed=changed, layers=4)
        place = tmp_path / "data" / f"{name}.bin"
        place.parent.mkdir(exist_ok=True)
        externalize(model, place)
        models.append(side(tmp_path, model, name, data_folder=place.parent))
    found = bisected(tmp_path, models[0], models[1], x())
    assert found.node == "layer2"
    assert found.repro
    assert not (found.repro / "node-1.weights").exists()
    assert "off by 0," not in reproduced(found.repro)


def test_samples_that_the_first_side_refuses_are_passed_over_unless_it_refuses_all(tmp_path: Path) -> None:
    sides = side(tmp_path, chain(), "a"), side(tmp_path, chain(changed=5))
    found = bisected(tmp_path, *sides, [x(3, WIDTH), x()])
    assert (found.node, found.sample) == ("layer5", 1)
    with pytest.raises(ModelError, match=r"a runs on none of the samples: .*Got: 3 Expected: 1"):
        bisected(tmp_path, side(tmp_path, chain(), "a"), side(tmp_path, chain()), x(3, WIDTH))


def test_what_else_is_in_the_folder_stays(tmp_path: Path) -> None:
    names = ("first", "second", "outputs", "a", "local", "fusion", "evidence")
    for name in names:
        (tmp_path / "scratch" / name).mkdir(parents=True)
    (tmp_path / "scratch" / "a" / "file").write_text("mine")
    sides = side(tmp_path, chain(), "a"), side(tmp_path, chain(changed=5))
    found = bisected(tmp_path, *sides, x())
    assert found.node == "layer5"
    assert (tmp_path / "scratch" / "a" / "file").read_text() == "mine"


def test_progress_is_told_up_to_the_end(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    sides = side(tmp_path, chain(), "a"), side(tmp_path, chain())
    bisected(tmp_path, *sides, x(), memory_bytes=2000, progress=lambda *each: told.append(each))
    assert told[-1] == (2 * LAYERS, 2 * LAYERS)
    assert len(told) == 4
    assert told == sorted(told)


def externalize(model: onnx.ModelProto, path: Path) -> None:
    from packager.graph.weights.places import Place

    with path.open("wb") as file:
        for tensor in model.graph.initializer:
            content = onnx.numpy_helper.to_array(tensor).tobytes()
            refer(tensor, Place(path, file.tell(), len(content)))
            file.write(content)
