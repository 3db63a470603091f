"""Random inputs that fit: states of the right size, indices within bounds, sizes learnt from refusals."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy
import pytest

from packager.core.errors import ModelError
from packager.core.values import Model, baseline
from packager.samples import find, search
from packager.samples.complaint import complaint
from packager.samples.flow import index_limits, scale_inputs
from packager.samples.search import LIMIT_S, MAX_TRIES
from packager.samples.states import states_of, stem_of
from packager.verification import parity
from packager.verification.parity import Accepted
from tests.onnx_text import loaded, onnx_model, weight
from tests.toolchain.forks import forked

__all__ = ["forked"]
pytestmark = pytest.mark.by_content

MATTING = """(float[batch, 3, height, width] src, float[batch, channels, height, width] r1i,
              float[batch, channels, height, width] r2i, float[1] downsample_ratio)
    => (float[batch, 1, height, width] pha, float[batch, channels, height, width] r1o,
        float[batch, channels, height, width] r2o) {
    one = Constant <value = float[2] {1.0, 1.0}> ()
    scales = Concat <axis = 0> (one, downsample_ratio, downsample_ratio)
    small = Resize <mode = "linear"> (src, , scales)
    a = Conv <pads = [1, 1, 1, 1], strides = [2, 2]> (small, w1)
    shape1 = Shape (a) p1 = Expand (r1i, shape1) r1o = Add (a, p1)
    b = Conv <pads = [1, 1, 1, 1], strides = [2, 2]> (r1o, w2)
    shape2 = Shape (b) p2 = Expand (r2i, shape2) r2o = Add (b, p2)
    two = Constant <value = float[4] {1.0, 1.0, 2.0, 2.0}> ()
    up = Resize <mode = "nearest"> (r2o, , two)
    joined = Concat <axis = 1> (up, r1o) m = ReduceMean <axes = [1], keepdims = 1> (joined) pha = Sigmoid (m) }"""
"""As RobustVideoMatting is exported: states have half and a quarter of the picture's size, with the same symbols."""
MATTING_WEIGHTS = {"w1": weight(16, 3, 3, 3), "w2": weight(20, 16, 3, 3)}
GRAPH_NET = """(float[nodes, 8] x, int64[2, edges] edge_index) => (float[nodes, 8] y) {
    s = Split <axis = 0> (edge_index) first, second = Split <axis = 0> (edge_index)
    axes = Constant <value = int64[1] {0}> ()
    from = Squeeze (first, axes) to = Squeeze (second, axes)
    sent = Gather <axis = 0> (x, from)
    zero = ConstantOfShape <value = float[1] {0.0}> (size) size = Shape (x)
    column = Constant <value = int64[1] {1}> () index = Unsqueeze (to, column)
    y = ScatterND <reduction = "add"> (zero, index, sent) }""".replace("s = Split <axis = 0> (edge_index) ", "")


def accepted(model: Model, folder: Path, *, count: int = 2) -> Accepted:
    folder.mkdir(exist_ok=True)
    return parity.random_inputs(baseline(model), folder, count=count, seed=0)


def arrays(found: Accepted) -> Iterator[dict[str, Any]]:
    for path in found.found.samples.paths:
        with numpy.load(path) as content:
            yield {name: content[name] for name in content.files}


def refusal(model: Model, folder: Path) -> str:
    """The words of a search that gives up after 20 tries: the first ones decide them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search, "MAX_TRIES", 20)
        with pytest.raises(ModelError) as error:
            accepted(model, folder)
    return error.value.message


@pytest.mark.programs
def test_states_that_share_names_with_the_picture_have_sizes_of_their_own(tmp_path: Path) -> None:
    model = loaded(tmp_path, onnx_model(MATTING, weights=MATTING_WEIGHTS))
    found = accepted(model, tmp_path / "run")
    assert found.found.tries == 2, "the names say that all are equal, and the model refuses that"
    for sample in arrays(found):
        assert sample["src"].shape == (1, 3, 64, 64)
        assert sample["r1i"].shape == sample["r2i"].shape == (1, 1, 1, 1)
        assert sample["downsample_ratio"] in (0.5, 1.0)


@pytest.mark.programs
@pytest.mark.parametrize(
    ("inputs", "outputs", "nodes", "size"),
    [
        ("bool[batch, length] src_mask", "bool[batch, length] src_mask_out", "src_mask_out = Identity (src_mask)", 64),
        ("bool[batch, length] src_mask", "bool[batch, length] src_mask_out", "src_mask_out = Not (src_mask)", 64),
        ("int64[batch, length] position_ids", "int64[batch, length] position_ids_out",
         "position_ids_out = Identity (position_ids)", 64),
        ("float[length, 8] mask, float[8, length] mask_next", "float[length, 8] mask_out",
         "mask_out = Transpose (mask_next)", 64),
        ("float[batch, past] state", "float[batch, past] stateN", "stateN = Identity (state)", 1),
    ],
    ids=["mask", "computed mask", "positions", "through another", "state"],
)  # fmt: skip
def test_what_has_a_dimension_of_another_input_is_no_state(
    tmp_path: Path, inputs: str, outputs: str, nodes: str, size: int
) -> None:
    ends = f"(int64[batch, length] src, {inputs}) => (float[batch, length] y, {outputs})"
    graph = f"{ends} {{ y = Cast <to = 1> (src) {nodes} }}"
    found = accepted(loaded(tmp_path, onnx_model(graph)), tmp_path / "run")
    for sample in arrays(found):
        assert sample["src"].shape == (1, 64)
        sizes = {each for name, array in sample.items() if name != "src" for each in array.shape} - {8}
        assert sizes <= {1, size}
        assert size in sizes


@pytest.mark.programs
def test_an_edge_is_between_nodes_that_there_are(tmp_path: Path) -> None:
    model = loaded(tmp_path, onnx_model(GRAPH_NET))
    assert index_limits(model) == {"edge_index": "nodes"}
    found = accepted(model, tmp_path / "run")
    assert found.found.tries == 1
    for sample in arrays(found):
        assert sample["x"].shape == (64, 8)
        assert 1 < sample["edge_index"].max() < 64


@pytest.mark.parametrize(
    ("graph", "limits"),
    [
        ("{ one = Constant <value = int64 {1}> () j = Add (i, one) y = Gather (table, j) }", {"i": 8}),
        ("{ one = Constant <value = int64 {1}> () j = Sub (i, one) y = Gather (table, j) }", {"i": 10}),
        ("{ y = GatherElements <axis = 0> (table, i) }", {"i": 9}),
        ("{ y = ScatterElements <axis = 0> (table, i, u) }", {"i": 9}),
        ("{ a = Constant <value = int64[1] {1}> () j = Unsqueeze (i, a) y = GatherND (table, j) }", {"i": 9}),
        ("{ a = Constant <value = int64[1] {1}> () j = Unsqueeze (i, a) y = ScatterND (table, j, u) }", {"i": 9}),
        ("{ d = Constant <value = int64 {7}> () y = OneHot (i, d, u2) }", {"i": 7}),
        ("{ z = Constant <value = int64[1] {0}> () o = Constant <value = int64[1] {2}> ()"
         " j = Slice (i, z, o) y = Gather (table, j) }", {"i": 9}),
        ("{ j = Transpose (i) k = Concat <axis = 0> (j, i) y = Gather (table, k) }", {"i": 9}),
        ("{ s = Shape (i) y = Gather (table, s) }", {}),
    ],
    ids=["add", "subtract", "elements", "scattered", "nd", "scattered nd", "one hot", "slice", "joined", "its size"],
)  # fmt: skip
def test_indices_are_followed_to_what_they_index(tmp_path: Path, graph: str, limits: dict[str, int]) -> None:
    weights = {"table": weight(9), "u": weight(4), "u2": weight(2)}
    model = loaded(tmp_path, onnx_model(f"(int64[4] i) => (float[?] y) {graph}", weights=weights))
    assert index_limits(model) == limits


@pytest.mark.programs
def test_an_index_that_the_graph_hides_is_learnt_from_the_refusal(tmp_path: Path) -> None:
    graph = """(int64[99] i) => (float[99] y) {
        a = Gather (small, i) j = Mul (i, three) b = Gather (large, j) y = Add (a, b) }"""
    weights = {"small": weight(30), "large": weight(45), "three": numpy.array(3)}
    model = loaded(tmp_path, onnx_model(graph, weights=weights))
    assert index_limits(model) == {"i": 30}
    found = accepted(model, tmp_path / "run")
    assert found.found.tries > 1
    assert all(1 < sample["i"].max() < 15 for sample in arrays(found))


@pytest.mark.programs
@pytest.mark.parametrize(
    ("graph", "weights", "shapes"),
    [
        ("(float[n, t] x) => (float[n, 4] y) { y = MatMul (x, w) }", {"w": weight(35, 4)}, {"x": (1, 35)}),
        (
            "(float[n, 1, t] x) => (float[n, 4, s] y) { y = Conv <kernel_shape = [900]> (x, w) }",
            {"w": weight(4, 1, 900)},
            {"x": (1, 1, 900)},
        ),
        (
            "(float[n, p] x, float[n, q] z) => (float[m, q] y) {"
            " j = Concat <axis = 1> (x, x) y = Concat <axis = 0> (j, z) }",
            {},
            {"x": (1, 64), "z": (1, 128)},
        ),
        (
            "(float[h, w] x, float[h, w] k) => (float[h, w] y) {"
            " p = Constant <value = int64[2] {2, 3}> () t = Tile (k, p) y = Add (x, t) }",
            {},
            None,
        ),
    ],
    ids=["as many as a weight has", "long enough", "twice another", "names that lie"],
)
def test_sizes_are_learnt_from_the_refusal(
    tmp_path: Path, graph: str, weights: dict[str, Any], shapes: dict[str, tuple[int, ...]] | None
) -> None:
    found = accepted(loaded(tmp_path, onnx_model(graph, weights=weights)), tmp_path / "run")
    assert found.found.tries > 1
    for sample in arrays(found):
        if shapes:
            assert {name: array.shape for name, array in sample.items()} == shapes


@pytest.mark.programs
def test_a_net_that_folds_its_batch_gets_a_batch_of_several(tmp_path: Path) -> None:
    graph = """(float[x_axes_0, 1, 1, 3] x, float[z_axes_0, 1, 1, 4] z) => (float[4, m] y) {
        j = Concat <axis = 3> (x, z) s = Constant <value = int64[2] {4, -1}> () y = Reshape (j, s) }"""
    for sample in arrays(accepted(loaded(tmp_path, onnx_model(graph)), tmp_path / "run")):
        assert len(sample["x"]) == len(sample["z"]) == 4


@pytest.mark.programs
def test_a_size_that_follows_another_is_worked_out(tmp_path: Path) -> None:
    graph = """(float[1, 1, t] x) => (float[n, m] y) {
        c = Conv <kernel_shape = [5]> (x, w) s = Constant <value = int64[2] {-1, 997}> ()
        y = Reshape (c, s) }"""
    found = accepted(loaded(tmp_path, onnx_model(graph, weights={"w": weight(1, 1, 5)})), tmp_path / "run")
    (sample, _) = arrays(found)
    assert sample["x"].shape == (1, 1, 1001)


@pytest.mark.programs
def test_counts_may_not_be_nought(tmp_path: Path) -> None:
    graph = "(float[1, 4] x, int64[2] times) => (float[a, b] y) { t = Tile (x, times) y = MatMul (t, w) }"
    found = accepted(loaded(tmp_path, onnx_model(graph, weights={"w": weight(4, 2)})), tmp_path / "run")
    assert all(sample["times"].tolist() == [1, 1] for sample in arrays(found))


SONG = """(int64[sounds] sounds, int64[notes] notes) => (float[frames] y) {
    axes = Constant <value = int64[1] {0}> ()
    a = ReduceSum <keepdims = 1> (sounds, axes) b = ReduceSum <keepdims = 1> (notes, axes)
    one = ConstantOfShape <value = float[1] {1.0}> (a) two = ConstantOfShape <value = float[1] {2.0}> (b)
    y = Add (one, two) }"""


@pytest.mark.programs
def test_durations_of_one_sum_are_found(tmp_path: Path) -> None:
    for each in arrays(accepted(loaded(tmp_path, onnx_model(SONG)), tmp_path / "samples")):
        assert each["sounds"].sum() == each["notes"].sum() > 0


@pytest.mark.programs
def test_what_is_found_is_the_same_every_time(tmp_path: Path) -> None:
    graph = "(float[n, p] x, float[n, q] z) => (float[n, q] y) { j = Concat <axis = 1> (x, x) y = Add (j, z) }"
    model = loaded(tmp_path, onnx_model(graph))
    one, two = (accepted(model, tmp_path / name).found for name in ("one", "two"))
    assert [path.read_bytes() for path in one.samples.paths] == [path.read_bytes() for path in two.samples.paths]
    assert (one.shapes, one.tries, one.samples.description) == (two.shapes, two.tries, two.samples.description)


@pytest.mark.programs
def test_the_refusal_names_the_node_the_input_and_the_dimension(tmp_path: Path) -> None:
    graph = """(float[n, a] x, float[n, b] z) => (float[n, 3] y) {
        i = Constant <value = int64 {9999999}> () [picking] g = Gather <axis = 1> (x, i) y = Add (g, z) }"""
    said = refusal(loaded(tmp_path, onnx_model(graph)), tmp_path / "run")
    assert "Gather node. Name:'picking'" in said
    assert said.endswith("node 'picking' depends on 'x' [n=1, a=64]")


@pytest.mark.programs
def test_a_node_without_a_name_is_told_by_what_it_gives(tmp_path: Path) -> None:
    graph = "(float[n, a] x) => (float[n] y) { i = Constant <value = int64 {9999999}> () y = Gather <axis = 1> (x, i) }"
    said = refusal(loaded(tmp_path, onnx_model(graph)), tmp_path / "run")
    assert "node 'Gather that gives y' depends on 'x' [n=1, a=64]" in said


def test_a_search_ends(tmp_path: Path) -> None:
    model = loaded(tmp_path, onnx_model("(float[a, b, c] x, int64[d] i) => (float[a, b, c] y) { y = Relu (x) }"))
    times = iter(range(1000))
    tries = []

    def refuse(path: Path, number: int) -> str:
        tries.append(path)
        return f"running Relu node. Name:'mobpack/0' Status Message: {len(tries)} by 7"

    with pytest.raises(ModelError):
        find(model, model.graph, refuse, tmp_path, count=1, seed=0, clock=lambda: float(next(times)))
    assert len(tries) == LIMIT_S + 1
    tries.clear()
    with pytest.raises(ModelError):
        find(model, model.graph, refuse, tmp_path, count=1, seed=0, clock=lambda: 0.0)
    assert LIMIT_S < len(tries) <= MAX_TRIES


def test_a_crash_of_the_runtime_does_not_end_the_search(tmp_path: Path) -> None:
    class Crashing:
        runs = 0

    crashes = Crashing()
    model = loaded(tmp_path, onnx_model("(float[n, t] x) => (float[n, t] y) { y = Relu (x) }"))

    def attempt(path: Path, number: int) -> str:
        crashes.runs += 1
        return "the runtime crashed while running the model (SIGFPE)" if crashes.runs < 3 else ""

    assert find(model, model.graph, attempt, tmp_path, count=1, seed=0).tries == 3


@pytest.mark.parametrize(
    ("name", "stem"),
    [
        ("r1i", ("r", "1")),
        ("r1o", ("r", "1")),
        ("state", ("state",)),
        ("stateN", ("state",)),
        ("h0", ("h",)),
        ("hn", ("h",)),
        ("past_key_values.0.decoder.key", ("0", "decoder", "key")),
        ("present.0.decoder.key", ("0", "decoder", "key")),
        ("in_cache3", ("3",)),
        ("input", ()),
    ],
)
def test_names_of_states_and_of_what_they_become_have_one_stem(name: str, stem: tuple[str, ...]) -> None:
    assert stem_of(name) == stem


def test_states_have_the_element_and_the_rank_of_their_output(tmp_path: Path) -> None:
    graph = """(float[n, 4] x, float[2, n, 8] state, float[n, 4] mask) =>
        (float[n, 4] y, float[2, n, 8] stateN, float[4] mask_out) {
        y = Add (x, mask) stateN = Identity (state) mask_out = ReduceSum <keepdims = 0> (x, a) }"""
    model = loaded(tmp_path, onnx_model(graph, weights={"a": numpy.array([0])}))
    assert states_of(model) == {"state"}
    filtered = onnx_model("(float[n, 4] image_in) => (float[n, 4] image_out) { image_out = Relu (image_in) }")
    assert states_of(loaded(tmp_path, filtered, "filter")) == frozenset()


def test_only_small_floats_that_reach_a_scale_are_scales(tmp_path: Path) -> None:
    model = loaded(tmp_path, onnx_model(MATTING, weights=MATTING_WEIGHTS))
    assert scale_inputs(model) == ("downsample_ratio",)


def test_refusals_are_taken_apart() -> None:
    said = complaint(
        "2 : INVALID_ARGUMENT : Non-zero status code returned while running Gather node. Name:'mobpack/12' Status "
        "Message: indices element out of data bounds, idx=7 must be within the inclusive range [-5,4]"
    )
    assert (said.node, said.is_index, said.bound) == (12, True, 4)
    said = complaint(
        "Got invalid dimensions for input: x for the following indices index: 1 Got: 64 Expected: 3 index: 2 Got: 64 "
        "Expected: 5 Please fix either the inputs/outputs or the model."
    )
    assert (said.node, said.declared) == (None, (("x", 1, 3), ("x", 2, 5)))
    said = complaint(
        "1 : FAIL : Non-zero status code returned while running Add node. Name:'mobpack/3' Status Message: "
        "/a/b/element_wise_ops.h:540 void onnxruntime::BroadcastIterator::Append() Attempting to broadcast an axis by "
        "a dimension other than 1. 48 by 64"
    )
    assert said.node == 3
    assert said.numbers[-2:] == (48, 64)
