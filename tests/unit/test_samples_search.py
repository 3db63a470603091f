"""Random inputs that fit: states of the right size, indices within bounds, sizes learnt from refusals."""

from pathlib import Path

import numpy
import pytest

from packager.core.errors import ModelError
from packager.samples import find, search
from packager.samples.complaint import complaint
from packager.samples.flow import index_limits, scale_inputs
from packager.samples.search import LIMIT_S
from packager.samples.states import states_of, stem_of
from tests.cases.onnx_text import loaded, onnx_model, weight
from tests.cases.samples_search import MATTING, MATTING_WEIGHTS


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


def test_a_search_ends(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    model = loaded(tmp_path, onnx_model("(float[a, b, c] x, int64[d] i) => (float[a, b, c] y) { y = Relu (x) }"))
    times = iter(range(1000))
    tries = []
    monkeypatch.setattr(search, "MAX_TRIES", 90)

    def refuse(path: Path, number: int) -> str:
        tries.append(path)
        return f"running Relu node. Name:'mobpack/0' Status Message: {len(tries)} by 7"

    with pytest.raises(ModelError):
        find(model, model.graph, refuse, tmp_path, count=1, seed=0, clock=lambda: float(next(times)))
    assert len(tries) == LIMIT_S + 1
    tries.clear()
    with pytest.raises(ModelError):
        find(model, model.graph, refuse, tmp_path, count=1, seed=0, clock=lambda: 0.0)
    assert len(tries) == 90 > LIMIT_S


def test_a_crash_of_the_runtime_does_not_end_the_search(tmp_path: Path) -> None:
    class Crashing:
        runs = 0

    crashes = Crashing()
    model = loaded(tmp_path, onnx_model("(float[n, t] x) => (float[n, t] y) { y = Relu (x) }"))

    def attempt(path: Path, number: int) -> str:
        crashes.runs += 1
        return "the runtime crashed while running the model (SIGFPE)" if crashes.runs < 3 else ""

    assert find(model, model.graph, attempt, tmp_path, count=1, seed=0).tries == 3


def test_states_and_scales_are_known_by_names_and_shapes(tmp_path: Path) -> None:
    for name, stem in [
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
    ]:
        assert stem_of(name) == stem
    graph = """(float[n, 4] x, float[2, n, 8] state, float[n, 4] mask) =>
        (float[n, 4] y, float[2, n, 8] stateN, float[4] mask_out) {
        y = Add (x, mask) stateN = Identity (state) mask_out = ReduceSum <keepdims = 0> (x, a) }"""
    model = loaded(tmp_path, onnx_model(graph, weights={"a": numpy.array([0])}))
    assert states_of(model) == {"state"}
    filtered = onnx_model("(float[n, 4] image_in) => (float[n, 4] image_out) { image_out = Relu (image_in) }")
    assert states_of(loaded(tmp_path, filtered, "filter")) == frozenset()
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
