"""Rows that are sorted by nearly equal scores are compared as sets."""

from dataclasses import replace
from pathlib import Path

import numpy
import onnx
import pytest

from packager.core.findings import Parity
from packager.core.values import Compiled
from packager.engines.runners import Outcome
from packager.engines.runners.cpu import Cpu
from packager.verification import parity
from packager.verification.parity import OriginalOutputs, ParitySettings, Subject
from packager.verification.parity.rows import Group, Rows, groups_of
from tests.cases.onnx_text import compiled, onnx_model, weight
from tests.cases.rewriting_cases import Array

SETTINGS = ParitySettings(random_samples=2)
SCORES = """c1 = Conv <strides = [2, 2], pads = [1, 1, 1, 1]> (images, w1) s1 = Sigmoid (c1) m1 = Mul (c1, s1)
    c2 = Conv <pads = [1, 1, 1, 1]> (m1, w2) big = Mul (c2, amp) wave = Sin (big) logit = Mul (wave, small)
    score = Sigmoid (logit) flat = Constant <value = int64[2] {BATCH, -1}> () scores = Reshape (score, flat)
    k = Constant <value = int64[1] {100}> () top, index = TopK <axis = 1> (scores, k)"""
"""The sine simulates the depth of a network, which amplifies the last bit."""
ENDS = {
    "one table": ("float[BATCH,100,5] y", """boxes = Gather (anchors, index) last = Constant <value = int64[1] {2}> ()
        top3 = Unsqueeze (top, last) y = Concat <axis = 2> (boxes, top3)"""),
    "several outputs": (
        "float[BATCH,100,4] boxes, float[BATCH,100] conf, int64[BATCH,100] place, int64[BATCH,100] kind",
        """boxes = Gather (anchors, index) conf = Mul (top, one) place = Identity (index)
        ten = Constant <value = int64 {10}> () kind = Mod (index, ten)"""),
    "indices alone": ("int64[BATCH,100] y", "y = Identity (index)"),
    "transposed": ("float[BATCH,4,100] y", "boxes = Gather (anchors, index) y = Transpose <perm = [0, 2, 1]> (boxes)"),
}  # fmt: skip


def detector(end: str, *, batch: int = 1) -> onnx.ModelProto:
    outputs, nodes = ENDS[end]
    text = f"(float[BATCH,3,32,32] images) => ({outputs}) {{ {SCORES} {nodes} }}".replace("BATCH", str(batch))
    grid = numpy.stack(numpy.meshgrid(numpy.arange(16), numpy.arange(16)), -1).reshape(-1, 2).astype("f4") * 20
    weights = {
        "w1": numpy.divide(weight(16, 3, 3, 3), 5, dtype="f4"),
        "w2": numpy.divide(weight(1, 16, 3, 3, seed=1), 4, dtype="f4"),
        "amp": numpy.float32(1e4),
        "small": numpy.float32(1e-3),
        "one": numpy.float32(1),
        "anchors": numpy.concatenate([grid, grid + 20], 1),
    }
    return onnx_model(text, weights={name: numpy.asarray(each) for name, each in weights.items() if name in text})


def check(file: Compiled, folder: Path) -> Parity:
    folder.mkdir(exist_ok=True)
    return parity.check(Subject(variant=file.variant, compiled=file), Cpu(), SETTINGS, folder).parity


@pytest.mark.parametrize("batch", [1, 2])
@pytest.mark.parametrize("end", ENDS)
def test_rows_of_nearly_equal_scores_may_change_places(tmp_path: Path, end: str, batch: int) -> None:
    file = compiled(tmp_path, detector(end, batch=batch))
    references = OriginalOutputs(tmp_path)
    reference = references.of(file.variant, SETTINGS)
    moved = references.perturbed(file.variant, SETTINGS, 0).outcomes
    assert any((parity.array_of(reference.outcomes[0], 0) != parity.array_of(each, 0)).any() for each in moved), (
        "a computation with other last bits gives other rows"
    )
    found = check(file, tmp_path / "run")
    assert (found.has_failed, found.ill_conditioned) == (False, ())
    assert found.max_rel_error < 1e-3
    assert found.result.startswith("equals the original")


def test_other_boxes_for_the_same_scores_fail(tmp_path: Path) -> None:
    file = compiled(tmp_path, detector("one table"))
    other = detector("one table")
    for tensor in other.graph.initializer:
        if tensor.name == "anchors":
            array = onnx.numpy_helper.to_array(tensor).copy()
            array[::2] += 7
            tensor.CopyFrom(onnx.numpy_helper.from_array(array, "anchors"))
    wrong = compiled(tmp_path / "other", other)
    found = check(replace(file, path=wrong.path), tmp_path / "run")
    assert found.over
    assert found.over[0].max_abs_error >= 7


def test_the_operators_that_sort_are_found_in_the_graph() -> None:
    one = groups_of(detector("several outputs").SerializeToString())
    assert one == (Group(outputs=(0, 1, 2, 3), sizes=frozenset({100})),)
    assert groups_of(onnx_model("(float[9] x) => (float[9] y) { y = Relu (x) }").SerializeToString()) == ()
    two = onnx_model(
        """(float[1,1,50] s, float[1,50,4] b, float[9] x) => (int64[n,3] picked, float[9] y, float[3] top) {
        picked = NonMaxSuppression (b, s, m) y = Relu (x) t = Relu (x) top, i = TopK (t, k) }""",
        weights={"m": numpy.array([9]), "k": numpy.array([3])},
    )
    found = groups_of(two.SerializeToString())
    assert found == (Group(outputs=(0,), sizes=frozenset()), Group(outputs=(2,), sizes=frozenset({3})))


def matched(tmp_path: Path, a: Array, b: Array, *, allowed: float = 1e-3) -> Array:
    for name, array in (("a", a), ("b", b)):
        (tmp_path / name).mkdir()
        numpy.save(tmp_path / name / "0.npy", array)
    group = Group(outputs=(0,), sizes=frozenset({a.shape[0]}))
    rows = Rows(groups=(group,), allowed={0: allowed}, open_axes={0: frozenset()})
    found = rows.matched(Outcome(outputs=tmp_path / "a"), Outcome(outputs=tmp_path / "b"), tmp_path / "found")
    return parity.array_of(found, 0)


def table(count: int = 40) -> Array:
    """Boxes in no order, and scores of which two neighbours are nearly equal."""
    boxes = numpy.random.default_rng(0).uniform(0, 640, (count, 4)).astype("f4")
    scores = numpy.linspace(1, 0.1, count, dtype="f4")
    scores[1::2] = scores[::2] - numpy.float32(1e-4)
    return numpy.concatenate([boxes, scores[:, None]], axis=1)


def test_neighbours_change_places_and_a_far_row_does_not(tmp_path: Path) -> None:
    a = table()
    b = a.copy()
    b[[4, 5]] = b[[5, 4]]
    assert (matched(tmp_path, a, b) == a).all()
    far = a.copy()
    far[[4, 30]] = far[[30, 4]]
    (tmp_path / "far").mkdir()
    assert (matched(tmp_path / "far", a, far) == far).all(), "their scores are not nearly equal"


def test_only_rows_at_the_cut_may_be_others(tmp_path: Path) -> None:
    a = table()
    b = a.copy()
    b[-1, :4] = 5
    assert (matched(tmp_path, a, b) == a).all(), "another row has the score of the last one, too"
    wrong = a.copy()
    wrong[3, :4] = 5
    (tmp_path / "wrong").mkdir()
    assert (matched(tmp_path / "wrong", a, wrong) != a).any()
