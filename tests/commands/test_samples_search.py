"""Random inputs that fit: states of the right size, indices within bounds, sizes learnt from refusals."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy
import pytest

from packager.core.errors import ModelError
from packager.core.values import Model, baseline
from packager.samples import search
from packager.samples.flow import index_limits
from packager.verification import parity
from packager.verification.parity import Accepted
from tests.cases.onnx_text import loaded, onnx_model, weight
from tests.cases.samples_search import MATTING, MATTING_WEIGHTS

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


def test_states_that_share_names_with_the_picture_have_sizes_of_their_own(tmp_path: Path) -> None:
    model = loaded(tmp_path, onnx_model(MATTING, weights=MATTING_WEIGHTS))
    found = accepted(model, tmp_path / "run")
    assert found.found.tries == 2, "the names say that all are equal, and the model refuses that"
    for sample in arrays(found):
        assert sample["src"].shape == (1, 3, 64, 64)
        assert sample["r1i"].shape == sample["r2i"].shape == (1, 1, 1, 1)
        assert sample["downsample_ratio"] in (0.5, 1.0)


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
def test_what_has_an_inputs_dimension_is_no_state(
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


def test_an_edge_is_between_nodes_that_there_are(tmp_path: Path) -> None:
    model = loaded(tmp_path, onnx_model(GRAPH_NET))
    assert index_limits(model) == {"edge_index": "nodes"}
    found = accepted(model, tmp_path / "run")
    assert found.found.tries == 1
    for sample in arrays(found):
        assert sample["x"].shape == (64, 8)
        assert 1 < sample["edge_index"].max() < 64


def test_an_index_that_the_graph_hides_is_learnt_from_the_refusal(tmp_path: Path) -> None:
    graph = """(int64[99] i) => (float[99] y) {
        a = Gather (small, i) j = Mul (i, three) b = Gather (large, j) y = Add (a, b) }"""
    weights = {"small": weight(30), "large": weight(45), "three": numpy.array(3)}
    model = loaded(tmp_path, onnx_model(graph, weights=weights))
    assert index_limits(model) == {"i": 30}
    found = accepted(model, tmp_path / "run")
    assert found.found.tries > 1
    assert all(1 < sample["i"].max() < 15 for sample in arrays(found))


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


def test_sizes_follow_each_other_and_batches(tmp_path: Path) -> None:
    graph = """(float[x_axes_0, 1, 1, 3] x, float[z_axes_0, 1, 1, 4] z) => (float[4, m] y) {
        j = Concat <axis = 3> (x, z) s = Constant <value = int64[2] {4, -1}> () y = Reshape (j, s) }"""
    for sample in arrays(accepted(loaded(tmp_path, onnx_model(graph)), tmp_path / "run")):
        assert len(sample["x"]) == len(sample["z"]) == 4
    graph = """(float[1, 1, t] x) => (float[n, m] y) {
        c = Conv <kernel_shape = [5]> (x, w) s = Constant <value = int64[2] {-1, 997}> ()
        y = Reshape (c, s) }"""
    found = accepted(loaded(tmp_path, onnx_model(graph, weights={"w": weight(1, 1, 5)})), tmp_path / "run")
    (sample, _) = arrays(found)
    assert sample["x"].shape == (1, 1, 1001)
    graph = "(float[1, 4] x, int64[2] times) => (float[a, b] y) { t = Tile (x, times) y = MatMul (t, w) }"
    found = accepted(loaded(tmp_path, onnx_model(graph, weights={"w": weight(4, 2)})), tmp_path / "run")
    assert all(sample["times"].tolist() == [1, 1] for sample in arrays(found))
    for each in arrays(accepted(loaded(tmp_path, onnx_model(SONG)), tmp_path / "samples")):
        assert each["sounds"].sum() == each["notes"].sum() > 0


SONG = """(int64[sounds] sounds, int64[notes] notes) => (float[frames] y) {
    axes = Constant <value = int64[1] {0}> ()
    a = ReduceSum <keepdims = 1> (sounds, axes) b = ReduceSum <keepdims = 1> (notes, axes)
    one = ConstantOfShape <value = float[1] {1.0}> (a) two = ConstantOfShape <value = float[1] {2.0}> (b)
    y = Add (one, two) }"""


def test_refusals_name_nodes_inputs_and_dimensions(tmp_path: Path) -> None:
    graph = """(float[n, a] x, float[n, b] z) => (float[n, 3] y) {
        i = Constant <value = int64 {9999999}> () [picking] g = Gather <axis = 1> (x, i) y = Add (g, z) }"""
    said = refusal(loaded(tmp_path, onnx_model(graph)), tmp_path / "run")
    assert "Gather node. Name:'picking'" in said
    assert said.endswith("node 'picking' depends on 'x' [n=1, a=64]")
    graph = "(float[n, a] x) => (float[n] y) { i = Constant <value = int64 {9999999}> () y = Gather <axis = 1> (x, i) }"
    said = refusal(loaded(tmp_path, onnx_model(graph)), tmp_path / "run")
    assert "node 'Gather that gives y' depends on 'x' [n=1, a=64]" in said
    graph = "(float[n, p] x, float[n, q] z) => (float[n, q] y) { j = Concat <axis = 1> (x, x) y = Add (j, z) }"
    model = loaded(tmp_path, onnx_model(graph))
    one, two = (accepted(model, tmp_path / name).found for name in ("one", "two"))
    assert [path.read_bytes() for path in one.samples.paths] == [path.read_bytes() for path in two.samples.paths]
    assert (one.shapes, one.tries, one.samples.description) == (two.shapes, two.tries, two.samples.description)
