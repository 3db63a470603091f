"""Box contracts: the boxes that an app gets from a detector's proposals, and their coordinates."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy
import numpy.typing
import pytest

from packager import config
from packager.contract import Core, Placement, Writer
from packager.contract.boxes import Boxes
from packager.core.contract import ADDED, BoxesOutput
from packager.core.errors import ConfigError
from packager.core.signature import Dimension, ElementType, TensorSpec
from tests.cases.contract_graphs import Ran, graph_of, spec_of

Numbers = numpy.typing.NDArray[Any]
RANDOM = numpy.random.default_rng(11)


@dataclass(frozen=True, kw_only=True)
class Picture:
    """The place of an upright picture in the input of a core of 64 x 64."""

    width: int
    height: int
    made_width: int
    made_height: int
    offset_x: int = 0
    offset_y: int = 0

    def placement(self, writer: Writer) -> Placement:
        numbers: dict[str, Any] = {key: writer.integers(value) for key, value in asdict(self).items()}
        return Placement(**numbers, core_width=64, core_height=64)


NO_OTHERS: Mapping[str, tuple[Dimension, ...]] = {}
AS_IT_IS = Picture(width=64, height=64, made_width=64, made_height=64)


class Behind:
    """A table contract on the output `y` and others."""

    def __init__(
        self,
        kind: Boxes,
        *shape: Dimension,
        element: ElementType = ElementType.FLOAT,
        picture: Picture | None = AS_IT_IS,
        others: Mapping[str, tuple[Dimension, ...]] = NO_OTHERS,
    ) -> None:
        self.writer = Writer(scope="y")
        specs = [spec_of("y", element, *shape)]
        specs += [spec_of(name, ElementType.FLOAT, *each) for name, each in others.items()]
        placements = {"x": picture.placement(self.writer)} if picture else {}
        core = Core(outputs={spec.name: spec for spec in specs}, placements=placements)
        self.attached = kind.attach(self.writer, specs[0], core)
        self.ran = Ran(graph_of(self.writer, inputs=[given(spec) for spec in specs]))

    @property
    def typed(self) -> BoxesOutput:
        assert isinstance(self.attached.typed, BoxesOutput)
        return self.attached.typed

    def __call__(self, y: Numbers, **others: Numbers) -> tuple[Numbers, Numbers, Numbers]:
        """Boxes, scores and classes."""
        made = self.ran({"y": y, **others})
        return made["y.boxes"], made["y.scores"], made["y.classes"]


def given(spec: TensorSpec) -> tuple[str, ElementType, tuple[Dimension, ...]]:
    return spec.name, spec.element, spec.shape


def proposals(count: int, classes: int, *, seed: int = 0) -> tuple[Numbers, Numbers]:
    """Boxes [m, 4] as left, top, right, bottom that overlap a lot, and scores [classes, m]."""
    random = numpy.random.default_rng(seed)
    centre, size = random.uniform(5, 59, (count, 2)), random.uniform(4, 30, (count, 2))
    boxes = numpy.concatenate([centre - size / 2, centre + size / 2], axis=1).astype(numpy.float32)
    return boxes, (random.random((classes, count)) ** 3).astype(numpy.float32)


def as_centres(boxes: Numbers) -> Numbers:
    start, end = boxes[:, :2], boxes[:, 2:]
    return numpy.concatenate([(start + end) / 2, end - start], axis=1)


def yolo(boxes: Numbers, scores: Numbers) -> Numbers:
    return numpy.concatenate([as_centres(boxes).T, scores])[None]


def suppressed(boxes: Numbers, scores: Numbers, threshold: float) -> list[int]:
    """The boxes that torchvision.ops.nms keeps, best first."""
    kept: list[int] = []
    areas = numpy.prod(boxes[:, 2:] - boxes[:, :2], axis=1)
    for index in numpy.argsort(-scores, kind="stable"):
        start = numpy.maximum(boxes[index, :2], boxes[kept, :2])
        end = numpy.minimum(boxes[index, 2:], boxes[kept, 2:])
        shared = numpy.prod(numpy.maximum(end - start, 0), axis=1)
        if not (shared / (areas[index] + areas[kept] - shared) > threshold).any():
            kept.append(int(index))
    return kept


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """The same rules, in numpy."""

    score: float = 0.25
    iou: float = 0.5
    most: int = 300
    agnostic: bool = False
    multi_label: bool = False

    def of(self, boxes: Numbers, scores: Numbers) -> tuple[Numbers, Numbers, Numbers]:
        """Boxes, scores and classes, as (score, -position, -class) has them in order."""
        found = self._pairs(boxes, scores)
        found.sort(key=lambda pair: (-scores[pair], pair[1], pair[0]))
        found = found[: self.most]
        classes = numpy.array([pair[0] for pair in found], numpy.int64)
        places = numpy.array([pair[1] for pair in found], numpy.int64)
        return boxes[places], scores[classes, places], classes

    def _pairs(self, boxes: Numbers, scores: Numbers) -> list[tuple[int, int]]:
        best = scores.argmax(0)
        if self.agnostic:
            places = numpy.flatnonzero(scores.max(0) > numpy.float32(self.score))
            kept = places[suppressed(boxes[places], scores.max(0)[places], self.iou)]
            return [(int(best[place]), int(place)) for place in kept]
        pairs = []
        for each in range(len(scores)):
            is_of_class = self.multi_label | (best == each)
            places = numpy.flatnonzero((scores[each] > numpy.float32(self.score)) & is_of_class)
            pairs += [(each, int(places[k])) for k in suppressed(boxes[places], scores[each, places], self.iou)]
        return pairs


def assert_same(found: tuple[Numbers, ...], wanted: tuple[Numbers, ...]) -> None:
    assert found[2].dtype == numpy.int64
    assert numpy.array_equal(found[2], wanted[2])
    numpy.testing.assert_allclose(found[1], wanted[1], rtol=1e-6)
    numpy.testing.assert_allclose(found[0], wanted[0], atol=1e-4)


@pytest.mark.parametrize(
    "rules",
    [
        {},
        {"iou": 0.2, "score": 0.05},
        {"iou": 0.7, "score": 0.5},
        {"most": 7},
        {"agnostic": True},
        {"multi_label": True, "score": 0.1},
        {"multi_label": True, "most": 20, "iou": 0.9},
        {"iou": 1.0},
    ],
)
@pytest.mark.parametrize("classes", [1, 6])
def test_the_same_boxes_are_kept_as_by_the_rules_in_numpy(rules: Mapping[str, Any], classes: int) -> None:
    wanted = Wanted(**rules)
    kind = Boxes(
        format="yolo",
        score_threshold=wanted.score,
        iou_threshold=wanted.iou,
        max_boxes=wanted.most,
        agnostic=wanted.agnostic,
        multi_label=wanted.multi_label,
    )
    behind = Behind(kind, 1, 4 + classes, 120)
    sizes = set()
    for seed in range(6):
        boxes, scores = proposals(120, classes, seed=seed)
        found = behind(yolo(boxes, scores))
        assert_same(found, clipped(wanted, boxes, scores))
        sizes.add(len(found[0]))
    assert min(sizes) > 0


def clipped(wanted: Wanted, boxes: Numbers, scores: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """Boxes suppress each other before they are clipped to the picture."""
    kept, shares, classes = wanted.of(boxes, scores)
    return numpy.clip(kept, 0, 64), shares, classes


def test_boxes_lie_in_the_upright_picture_or_where_the_model_says() -> None:
    # A letterbox: 160 x 80 in 64 x 64, with 16 rows above the picture.
    picture = Picture(width=160, height=80, made_width=64, made_height=32, offset_y=16)
    boxes = numpy.array([[10, 20, 30, 40], [-5, 10, 20, 30], [0, 0, 64, 15], [40, 40, 80, 90]], numpy.float32)
    scores = numpy.array([[0.9, 0.8, 0.7, 0.6]], numpy.float32)
    found, shares, _ = Behind(Boxes(format="yolo", iou_threshold=1.0), 1, 5, 4, picture=picture)(yolo(boxes, scores))
    numpy.testing.assert_allclose(found, [[25, 10, 75, 60], [0, 0, 50, 35], [100, 60, 160, 80]], atol=1e-4)
    numpy.testing.assert_allclose(shares, [0.9, 0.8, 0.6])  # the third lies above the picture
    boxes = numpy.array([[-10, 20, 300, 400]], numpy.float32)
    found, _, _ = Behind(Boxes(format="yolo"), 1, 5, 1, picture=None)(yolo(boxes, numpy.array([[0.9]], numpy.float32)))
    numpy.testing.assert_allclose(found, boxes)


def test_scores_are_those_of_sigmoids_and_objects() -> None:
    boxes, scores = proposals(50, 3)
    things = RANDOM.random((50, 1)).astype(numpy.float32)
    found = Behind(Boxes(format="yolo-objectness", score_threshold=0.1), 1, 50, 8)(
        numpy.concatenate([as_centres(boxes), things, scores.T], axis=1)[None]
    )
    assert len(found[0]) > 3
    assert_same(found, clipped(Wanted(score=0.1), boxes, scores * things[:, 0]))
    boxes, scores = proposals(40, 3)
    logits = numpy.log(scores / (1 - scores))
    found = Behind(Boxes(format="yolo", activation="sigmoid"), 1, 7, 40)(yolo(boxes, logits))
    numpy.testing.assert_allclose(found[1], clipped(Wanted(), boxes, scores)[1], atol=1e-6)


@pytest.mark.parametrize("shape", [(1, 50, 3), (1, 3, 50), (50, 3)])
def test_scores_may_lie_in_another_output_either_way_round(shape: tuple[int, ...]) -> None:
    boxes, scores = proposals(50, 3)
    behind = Behind(Boxes(format="corners", scores="s"), 1, 50, 4, others={"s": shape})
    given_scores = scores.reshape(shape) if shape[-1] == 50 else scores.T.reshape(shape)
    assert_same(behind(boxes[None], s=given_scores), clipped(Wanted(), boxes, scores))
    assert behind.attached.taken == ("y", "s")


@pytest.mark.parametrize("order", ["xyxy", "yxyx", "cxcywh", "xywh"])
def test_the_four_numbers_come_in_any_order(order: Any) -> None:
    boxes, scores = proposals(20, 2)
    written = {
        "xyxy": boxes,
        "yxyx": boxes[:, [1, 0, 3, 2]],
        "cxcywh": as_centres(boxes),
        "xywh": numpy.concatenate([boxes[:, :2], boxes[:, 2:] - boxes[:, :2]], axis=1),
    }[order]
    behind = Behind(Boxes(format="corners", scores="s", order=order), 1, 20, 4, others={"s": (1, 2, 20)})
    assert_same(behind(written[None], s=scores[None]), clipped(Wanted(), boxes, scores))


def test_relative_numbers_go_across_the_picture_and_boxes_may_be_open() -> None:
    boxes, scores = proposals(20, 2)
    kind = Boxes(format="corners", scores="s", coordinates="relative")
    found = Behind(kind, 1, 20, 4, others={"s": (1, 2, 20)})(boxes[None] / 64, s=scores[None])
    assert_same(found, clipped(Wanted(), boxes, scores))
    behind = Behind(Boxes(format="corners", scores="s"), "batch", "m", 4, others={"s": ("batch", "m", 2)})
    assert_same(behind(boxes[None], s=scores.T[None]), clipped(Wanted(), boxes, scores))
    found = behind(numpy.zeros((1, 0, 4), numpy.float32), s=numpy.zeros((1, 0, 2), numpy.float32))
    assert [each.shape for each in found] == [(0, 4), (0,), (0,)]


@pytest.mark.parametrize(("background", "kept"), [(0, [1, 2, 3]), (-1, [0, 1, 2]), (2, [0, 1, 3])])
def test_a_background_is_no_class(background: int, kept: list[int]) -> None:
    boxes, logits = proposals(30, 4)[0], RANDOM.standard_normal((4, 30)).astype(numpy.float32) * 3
    powers = numpy.exp(logits)
    shares = (powers / powers.sum(0))[kept]
    kind = Boxes(format="corners", scores="s", activation="softmax", background=background)
    for shape, values in (((1, 30, 4), logits.T), ((1, 4, 30), logits)):
        found = Behind(kind, 1, 30, 4, others={"s": shape})(boxes[None], s=values[None])
        assert_same(found, clipped(Wanted(), boxes, shares))


def test_what_a_model_has_chosen_itself_is_sorted_alone() -> None:
    """Two boxes at one place are two things if the model has chosen them itself."""
    rows = [[1, 1, 9, 9, 0.5, 2], [1, 1, 9, 9, 0.9, 2], [5, 5, 20, 20, 0.25, 1], [2, 2, 6, 6, 0.5, 0]]
    found, scores, classes = Behind(Boxes(format="rows"), 1, 4, 6)(numpy.array([rows], numpy.float32))
    numpy.testing.assert_allclose(scores, [0.9, 0.5, 0.5])
    assert classes.tolist() == [2, 2, 0]
    assert found.tolist() == [[1, 1, 9, 9], [1, 1, 9, 9], [2, 2, 6, 6]]


def test_classes_may_lie_in_an_output_of_their_own(tmp_path: Path) -> None:
    path = tmp_path / "labels.txt"
    path.write_text("a\nb\n")
    boxes = numpy.array([[[1, 1, 9, 9], [5, 5, 20, 20], [8, 8, 30, 30], [0, 0, 2, 2]]], numpy.float32)
    scores, classes = numpy.array([[0.4, 0.9, 0.8, 0.7]], numpy.float32), numpy.array([[1, 0, 2, -1]], numpy.float32)
    behind = Behind(
        Boxes(format="corners", scores="s", classes="c", labels=path), 1, 4, 4, others={"s": (1, 4), "c": (1, 4)}
    )
    assert behind.attached.taken == ("y", "s", "c")
    assert behind.typed.labels == ("a", "b")
    found = behind(boxes, s=scores, c=classes)
    assert found[2].tolist() == [0, 1]  # of what has no label nothing is said
    numpy.testing.assert_allclose(found[1], [0.9, 0.4])


def test_of_equal_scores_what_the_model_names_first_comes_first() -> None:
    boxes = numpy.array([[k * 6, 0, k * 6 + 5, 5] for k in range(10)], numpy.float32)
    scores = numpy.zeros((3, 10), numpy.float32)
    scores[[2, 1, 0, 2, 1, 0, 2, 1, 0, 2], range(10)] = 0.5
    found, _, classes = Behind(Boxes(format="yolo", max_boxes=7), 1, 7, 10)(yolo(boxes, scores))
    assert numpy.array_equal(found, boxes[:7])
    assert classes.tolist() == [2, 1, 0, 2, 1, 0, 2]
    scores[:] = 0.5
    found, _, classes = Behind(Boxes(format="yolo", multi_label=True, max_boxes=4), 1, 7, 10)(yolo(boxes, scores))
    assert classes.tolist() == [0, 1, 2, 0]
    assert numpy.array_equal(found, boxes[[0, 0, 0, 1]])


FORMATS: list[tuple[Boxes, tuple[int, ...], dict[str, tuple[int, ...]]]] = [
    (Boxes(format="yolo"), (1, 7, 20), {}),
    (Boxes(format="yolo", multi_label=True), (1, 7, 20), {}),
    (Boxes(format="yolo", agnostic=True), (1, 7, 20), {}),
    (Boxes(format="yolo-objectness"), (1, 20, 8), {}),
    (Boxes(format="corners", scores="s"), (1, 20, 4), {"s": (1, 20, 3)}),
    (Boxes(format="corners", scores="s", background=0, activation="softmax"), (1, 20, 4), {"s": (1, 20, 3)}),
    (Boxes(format="rows"), (1, 20, 6), {}),
    (Boxes(format="regions"), (1, 1, 20, 30), {}),
]


@pytest.mark.parametrize(("kind", "shape", "others"), FORMATS)
def test_odd_numbers_are_no_boxes_or_crash(
    kind: Boxes, shape: tuple[int, ...], others: dict[str, tuple[int, ...]]
) -> None:
    behind = Behind(kind, *shape, others=others)
    for number in (0.0, numpy.nan, numpy.inf, -numpy.inf, 3e38):
        arrays = {name: numpy.full(each, number, numpy.float32) for name, each in others.items()}
        boxes, scores, classes = behind(numpy.full(shape, number, numpy.float32), **arrays)
        assert boxes.shape == (len(scores), 4)
        assert boxes.dtype == numpy.float32
        assert classes.shape == scores.shape
        assert numpy.isfinite(boxes).all()
        if number in (0.0, -numpy.inf) or numpy.isnan(number):
            assert len(scores) == 0
    assert all(node.name.startswith(ADDED) for node in behind.writer.written.nodes)
    assert behind.typed.boxes.shape == ("y.count", 4)


def test_odd_boxes_and_places_leave_the_others_alone() -> None:
    boxes, scores = proposals(30, 2)
    broken, shares = boxes.copy(), scores.copy()
    broken[3], broken[5, 2], shares[:, 7] = numpy.nan, numpy.inf, numpy.nan
    without = numpy.delete(numpy.arange(30), [3, 5, 7])
    found = Behind(Boxes(format="corners", scores="s"), 1, 30, 4, others={"s": (1, 2, 30)})(
        broken[None], s=shares[None]
    )
    assert_same(found, clipped(Wanted(), boxes[without], scores[:, without]))
    values = numpy.full((1, 1, 64, 64), 0.1, numpy.float32)
    values[0, 0, 10:20, 20:40] = 0.9
    values[0, 0, :, 5], values[0, 0, :, 50] = numpy.nan, -numpy.inf
    boxes, scores, _ = Behind(Boxes(format="regions", unclip_ratio=0.0), 1, 1, 64, 64)(values)
    assert boxes.tolist() == [[20.5, 10.5, 39.5, 19.5]]
    numpy.testing.assert_allclose(scores, [0.9], atol=1e-6)


def test_halves_and_bytes_become_floats() -> None:
    boxes, scores = proposals(20, 2)
    values = yolo(boxes, scores).astype(numpy.float16)
    halves = Behind(Boxes(format="yolo"), 1, 6, 20, element=ElementType.FLOAT16)(values)
    floats = Behind(Boxes(format="yolo"), 1, 6, 20)(values.astype(numpy.float32))
    assert len(floats[0]) > 3
    assert_same(halves, floats)
    counted = numpy.array([[[10, 10, 30, 30, 1, 1]]], numpy.uint8)
    found, _, classes = Behind(Boxes(format="rows"), 1, 1, 6, element=ElementType.UINT8)(counted)
    assert (found.tolist(), classes.tolist()) == ([[10, 10, 30, 30]], [1])


# Regions


def connected(likelihoods: Numbers, threshold: float) -> list[tuple[tuple[int, int, int, int], float]]:
    """Boxes around connected places (corners count), and the mean of each."""
    is_open = likelihoods > numpy.float32(threshold)
    found = []
    for start in zip(*numpy.nonzero(is_open), strict=True):
        if not is_open[start]:
            continue
        is_open[start] = False
        places = [start]
        for y, x in places:
            around = is_open[max(0, y - 1) : y + 2, max(0, x - 1) : x + 2]
            for down, across in zip(*numpy.nonzero(around), strict=True):
                places.append((down + max(0, y - 1), across + max(0, x - 1)))
            around[:] = False
        rows, columns = numpy.array(places).T
        box = (int(columns.min()), int(rows.min()), int(columns.max()) + 1, int(rows.max()) + 1)
        found.append((box, float(likelihoods[rows, columns].mean(dtype=numpy.float64))))
    return found


OUTWARDS = numpy.array([-0.5, -0.5, 0.5, 0.5])


def smooth(height: int, width: int, seed: int, rounds: int) -> Numbers:
    values = numpy.random.default_rng(seed).random((height, width))
    for _ in range(rounds):
        values = (values + numpy.roll(values, 1, 0) + numpy.roll(values, 1, 1) + numpy.roll(values, -1, 1)) / 4
    low, high = values.min(), values.max() + 1e-9
    return numpy.asarray((values - low) / (high - low) * 0.9, numpy.float32)


REGIONS = Behind(
    Boxes(format="regions", threshold=0.5, score_threshold=0.0, unclip_ratio=0.0, min_size=0.5, max_boxes=100_000),
    1,
    1,
    "h",
    "w",
    picture=None,
)


def test_every_region_has_its_box_and_its_mean() -> None:
    count = 0
    for seed in range(40):
        height, width = numpy.random.default_rng(seed).integers(1, 45, 2)
        values = smooth(height, width, seed, seed % 4)
        boxes, scores, classes = REGIONS(values[None, None])
        # The outline goes through centres: what is one place wide has no area, and is not a box.
        wanted = [each for each in connected(values, 0.5) if min(each[0][2] - each[0][0], each[0][3] - each[0][1]) > 1]
        assert not classes.any()
        assert numpy.array_equal(scores, numpy.sort(scores)[::-1])
        found = [(*(box + OUTWARDS), round(float(score), 4)) for box, score in zip(boxes, scores, strict=True)]
        assert sorted(found) == sorted((*map(float, box), round(score, 4)) for box, score in wanted)
        count += len(wanted)
    assert count > 100


def snake(size: int) -> Numbers:
    """One region that winds, with a turn at every fourth row."""
    values = numpy.zeros((size, size), numpy.float32)
    values[::4] = 1
    for index, row in enumerate(range(0, size - 4, 4)):
        values[row : row + 5, -1 if index % 2 else 0] = 1
    return values


@pytest.mark.parametrize("turned", [False, True])
def test_a_long_region_is_one(turned: bool) -> None:
    values = snake(161).T if turned else snake(161)
    boxes, scores, _ = REGIONS(numpy.ascontiguousarray(values)[None, None])
    assert boxes.tolist() == [[0.5, 0.5, 160.5, 160.5]]
    assert scores.tolist() == [1.0]


def test_regions_touch_at_corners_and_maps_may_be_smaller() -> None:
    values = (numpy.indices((12, 12)).sum(0) % 2).astype(numpy.float32)
    boxes, _, _ = REGIONS(values[None, None])
    assert len(boxes) == 1
    picture = Picture(width=128, height=32, made_width=64, made_height=64)
    values = numpy.zeros((1, 16, 8), numpy.float32)
    values[0, 4:10, 2:7] = 1
    boxes, _, _ = Behind(Boxes(format="regions", unclip_ratio=0.0), 1, 16, 8, picture=picture)(values)
    numpy.testing.assert_allclose(boxes, [[2.5 * 16, 4.5 * 2, 6.5 * 16, 9.5 * 2]])


def test_a_region_grows_by_the_area_that_it_covers() -> None:
    # 20 x 10 places, 19 x 9 between the centres of the outermost.
    values = numpy.zeros((1, 1, 64, 64), numpy.float32)
    values[0, 0, 30:40, 20:40] = 0.8
    growth = 19 * 9 * 1.5 / (2 * (19 + 9))
    boxes, scores, _ = Behind(Boxes(format="regions"), 1, 1, 64, 64)(values)
    numpy.testing.assert_allclose(boxes, [[20.5 - growth, 30.5 - growth, 39.5 + growth, 39.5 + growth]], atol=1e-4)
    numpy.testing.assert_allclose(scores, [0.8], atol=1e-6)
    # In proportion to the area it covers: a diagonal two places thick covers hardly any.
    values = numpy.zeros((1, 1, 64, 64), numpy.float32)
    rows = numpy.arange(40)
    values[0, 0, rows + 10, rows + 10] = values[0, 0, rows + 10, rows + 11] = 1
    boxes, _, _ = Behind(Boxes(format="regions"), 1, 1, 64, 64)(values)
    growth = 40 * 39 * (80 / (41 * 40)) * 1.5 / (2 * (40 + 39))
    numpy.testing.assert_allclose(boxes, [[10.5 - growth, 10.5 - growth, 50.5 + growth, 49.5 + growth]], atol=1e-4)


def test_regions_too_small_or_too_unlikely_are_left_out() -> None:
    values = numpy.zeros((1, 1, 64, 64), numpy.float32)
    values[0, 0, 2:5, 2:30] = 0.9  # 2 between centres
    values[0, 0, 10:14, 2:30] = 0.9
    values[0, 0, 20:30, 2:30] = 0.55
    kind = Boxes(format="regions", unclip_ratio=0.0)
    boxes, _, _ = Behind(kind, 1, 1, 64, 64)(values)
    assert boxes.tolist() == [[2.5, 10.5, 29.5, 13.5]]
    boxes, _, _ = Behind(Boxes(format="regions", unclip_ratio=0.0, score_threshold=0.5), 1, 1, 64, 64)(values)
    assert boxes.tolist() == [[2.5, 10.5, 29.5, 13.5], [2.5, 20.5, 29.5, 29.5]]
    boxes, _, _ = Behind(Boxes(format="regions", unclip_ratio=0.0, min_size=2), 1, 1, 64, 64)(values)
    assert len(boxes) == 2


# What is refused


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"format": "yolo", "score_threshold": 1.5}, "score-threshold 1.5 is not from 0 to 1"),
        ({"format": "yolo", "iou_threshold": float("nan")}, "iou-threshold nan"),
        ({"format": "yolo", "max_boxes": 0}, "max-boxes 0"),
        ({"format": "yolo", "agnostic": True, "multi_label": True}, "contradict"),
        ({"format": "corners"}, "'scores' is missing"),
        ({"format": "yolo", "scores": "s"}, "'scores' has no effect with format 'yolo'"),
        ({"format": "rows", "iou_threshold": 0.4}, "'iou-threshold' has no effect"),
        ({"format": "regions", "order": "xyxy"}, "'order' has no effect"),
        ({"format": "regions", "unclip_ratio": -1.0}, "unclip-ratio must be at least 0"),
    ],
)
def test_keys_that_say_nothing_or_too_much_are_refused(keys: Mapping[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Boxes(**keys)


@pytest.mark.parametrize(
    ("keys", "shape", "others", "message"),
    [
        ({"format": "yolo"}, (1, 4, 20), {}, r"not \[1, 4 \+ classes, boxes\]"),
        ({"format": "yolo"}, (2, 7, 20), {}, r"\[2, 7, 20\]: not"),
        ({"format": "yolo"}, (1, "c", 20), {}, r"float \[1, c, 20\]: not"),
        ({"format": "yolo-objectness"}, (1, 20, 5), {}, r"not \[1, boxes, 5 \+ classes\]"),
        ({"format": "corners", "scores": "s"}, (1, 20, 5), {"s": (1, 20, 3)}, r"not \[1, boxes, 4\]"),
        ({"format": "corners", "scores": "z"}, (1, 20, 4), {"s": (1, 20, 3)}, "scores 'z' is not another output"),
        ({"format": "corners", "scores": "s"}, (1, 20, 4), {"s": (1, 21, 3)}, "not of 20 boxes"),
        (
            {"format": "corners", "scores": "s", "classes": "c"},
            (1, 20, 4),
            {"s": (1, 20, 3), "c": (1, 20)},
            "3 classes",
        ),
        ({"format": "corners", "scores": "s", "classes": "c"}, (1, 20, 4), {"s": (1, 20), "c": (1, 9)}, "of 20 boxes"),
        (
            {"format": "corners", "scores": "s", "background": 3},
            (1, 20, 4),
            {"s": (1, 20, 3)},
            "background 3 is not one",
        ),
        ({"format": "regions"}, (1, 2, 8, 8), {}, r"not \[1, 1, height, width\]"),
        ({"format": "yolo", "image": "z"}, (1, 5, 20), {}, "image 'z' is not an input"),
    ],
)
def test_outputs_that_have_no_boxes_are_refused(
    keys: Mapping[str, Any], shape: tuple[Dimension, ...], others: dict[str, tuple[int, ...]], message: str
) -> None:
    with pytest.raises(ConfigError, match=message) as raised:
        Behind(Boxes(**keys), *shape, others=others)
    assert raised.value.hint


def test_as_many_labels_are_needed_as_there_are_classes(tmp_path: Path) -> None:
    path = tmp_path / "labels.txt"
    path.write_text("a\nb\nc\n")
    assert Behind(Boxes(format="yolo", labels=Path("labels.txt")).within(tmp_path), 1, 7, 9).typed.labels == tuple(
        "abc"
    )
    with pytest.raises(ConfigError, match="has 3 labels, but the model has 2 classes"):
        Behind(Boxes(format="yolo", labels=path), 1, 6, 9)


def test_a_table_becomes_boxes(tmp_path: Path) -> None:
    table = {"kind": "boxes", "format": "corners", "scores": "s", "score-threshold": 0.4, "background": 0}
    document = {"package": {"name": "p"}, "model": {"m": {"path": "m.onnx", "outputs": {"y": table}}}}
    found = config.from_document(document, tmp_path, targets=(), settings=()).model["m"].outputs["y"]
    assert found == Boxes(format="corners", scores="s", score_threshold=0.4, background=0)
    table["iou-treshold"] = 0.3
    with pytest.raises(ConfigError, match="unknown key 'iou-treshold'") as raised:
        config.from_document(document, tmp_path, targets=(), settings=())
    assert "iou-threshold" in raised.value.hint
