"""The kind `keypoints` beside computations in NumPy: MMPose's for maps and lines."""

from typing import Any

import numpy
import numpy.typing
import pytest

from packager.contract import Core, Writer
from packager.contract.keypoints import SKELETONS, Keypoints
from packager.core.contract import KeypointsOutput
from packager.core.errors import ConfigError, SettingError
from packager.core.signature import Dimension, ElementType
from tests.cases.contract_graphs import Ran, graph_of, spec_of
from tests.unit.test_contract_outputs import placement

Numbers = numpy.typing.NDArray[Any]
Shape = tuple[Dimension, ...]

RANDOM = numpy.random.default_rng(7)
CORE, MADE, OFFSET, SIZE = (64, 48), (40, 60), (4, -3), (333, 501)
"""height and width of the model's picture; then width and height of the picture in it, its place, and its own size"""


def run(kind: Keypoints, given: dict[str, Numbers], *, picture: bool = True) -> tuple[Numbers, Numbers]:
    writer = Writer(scope="y")
    specs = {name: spec_of(name, ElementType.FLOAT, *values.shape) for name, values in given.items()}
    placements = {"x": placement(writer, SIZE[1], SIZE[0], CORE, MADE, OFFSET)} if picture else {}
    attached = kind.attach(writer, specs["y"], Core(outputs=specs, placements=placements))
    assert isinstance(attached.typed, KeypointsOutput)
    assert (attached.typed.labels, attached.taken) == (kind.points, tuple(given))
    inputs = [(name, ElementType.FLOAT, values.shape) for name, values in given.items()]
    found = Ran(graph_of(writer, inputs=inputs))(given)
    return found["y.points"], found["y.scores"]


def upright(points: Numbers) -> Numbers:
    return numpy.asarray((points.astype(numpy.float64) - OFFSET) * SIZE / MADE)


def random(*shape: int) -> Numbers:
    return RANDOM.standard_normal(shape).astype(numpy.float32)


def test_the_largest_value_of_a_map_is_moved_towards_its_larger_neighbour() -> None:
    maps = random(1, 200, 6, 5)  # so small that many lie at borders
    expected = []
    for each in maps[0]:
        y, x = (int(number) for number in numpy.unravel_index(each.argmax(), each.shape))
        dx = numpy.sign(each[y, x + 1] - each[y, x - 1]) if 1 < x < 4 else 0
        dy = numpy.sign(each[y + 1, x] - each[y - 1, x]) if 1 < y < 5 else 0
        expected.append(((x + dx / 4) * 48 / 5, (y + dy / 4) * 64 / 6))
    points, scores = run(Keypoints(format="heatmaps", names=tuple(map(str, range(200)))), {"y": maps})
    numpy.testing.assert_allclose(points, upright(numpy.array(expected)), rtol=1e-6)
    assert numpy.array_equal(scores, maps[0].max((1, 2)))


def test_known_lists_of_names_have_as_many_as_they_say() -> None:
    for name, points in SKELETONS.items():
        assert Keypoints(format="numbers", names=(name,)).points == points
        assert len(set(points)) == len(points) == int(name.rpartition("-")[2])
    assert [SKELETONS["mediapipe-pose-39"].index(each) for each in ("right ear", "left hip", "right foot index")] == [
        8,
        23,
        32,
    ]


def test_lines_for_x_and_y_give_the_place_of_their_largest_values() -> None:
    x, y = random(1, 17, 96), random(1, 17, 128)
    kind = Keypoints(format="simcc", names=("coco-17",), y="lines", activation="sigmoid")
    points, scores = run(kind, {"y": x, "lines": y})
    expected = numpy.stack([x[0].argmax(1) / 2, y[0].argmax(1) / 2], axis=1)
    numpy.testing.assert_allclose(points, upright(expected), rtol=1e-6)
    smaller = numpy.minimum(x[0].max(1), y[0].max(1)).astype(numpy.float64)
    numpy.testing.assert_allclose(scores, 1 / (1 + numpy.exp(-smaller)), rtol=1e-6)
    assert kind.points == SKELETONS["coco-17"]


@pytest.mark.parametrize("shape", [(1, 1, 17, 3), (1, 51), (17, 3)])
def test_relative_numbers_in_the_order_y_x_score_are_those_of_movenet(shape: tuple[int, ...]) -> None:
    given = RANDOM.random(shape).astype(numpy.float32)
    kind = Keypoints(format="numbers", names=("coco-17",), order="yx", coordinates="relative")
    points, scores = run(kind, {"y": given})
    rows = given.reshape(17, 3)
    numpy.testing.assert_allclose(points, upright(rows[:, [1, 0]] * numpy.array([48, 64])), rtol=1e-5, atol=1e-4)
    assert numpy.array_equal(scores, rows[:, 2])


def test_numbers_of_other_widths() -> None:
    five, two = random(1, 4 * 5), random(1, 4, 2)
    names = ("wrist", "thumb", "index", "middle")
    points, scores = run(Keypoints(format="numbers", names=names, score=4, activation="sigmoid"), {"y": five})
    numpy.testing.assert_allclose(points, upright(five.reshape(4, 5)[:, :2]), rtol=1e-5, atol=1e-4)
    numpy.testing.assert_allclose(scores, 1 / (1 + numpy.exp(-five.reshape(4, 5)[:, 4])), rtol=1e-5)
    points, scores = run(Keypoints(format="numbers", names=names), {"y": two}, picture=False)
    assert numpy.array_equal(points, two[0])
    assert numpy.array_equal(scores, numpy.ones(4, numpy.float32))


@pytest.mark.parametrize(
    ("keys", "shape", "words"),
    [
        ({"format": "heatmaps"}, (1, 4, 6, 5), r"not \[1, points, height, width\] of 3 points"),
        ({"format": "heatmaps"}, (1, 3, None, 5), r"not \[1, points, height, width\] of 3 points"),
        ({"format": "simcc", "y": "z"}, (1, 3, 8), "y 'z' is not another output"),
        ({"format": "simcc", "y": "y"}, (1, 3, 8), "y 'y' is not another output"),
        ({"format": "numbers"}, (1, 7), "not two or more numbers for each of 3 points"),
        ({"format": "numbers"}, (1, 3), "not two or more numbers for each of 3 points"),
        ({"format": "numbers"}, (), "not two or more numbers for each of 3 points"),
    ],
)
def test_outputs_that_are_no_points_are_refused(keys: dict[str, Any], shape: Shape, words: str) -> None:
    writer = Writer(scope="y")
    spec = spec_of("y", ElementType.FLOAT, *shape)
    core = Core(outputs={"y": spec}, placements={"x": placement(writer, 5, 7, CORE, MADE, OFFSET)})
    with pytest.raises(ConfigError, match=words):
        Keypoints(names=("a", "b", "c"), **keys).attach(writer, spec, core)
    with pytest.raises(ConfigError, match="takes no picture"):
        Keypoints(names=("a", "b", "c"), format="heatmaps").attach(
            writer, spec, Core(outputs={"y": spec}, placements={})
        )


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"format": "numbers", "names": ()}, "names must be texts"),
        ({"format": "numbers", "names": ("a", "a")}, "names must be texts"),
        ({"format": "numbers", "names": ("left\neye",)}, r"names: 'left\\neye' is not one line"),
        ({"format": "simcc"}, "'y' is missing"),
        ({"format": "numbers", "y": "z"}, "'y' has no effect"),
        ({"format": "heatmaps", "order": "yx"}, "have no effect with format 'heatmaps'"),
        ({"format": "numbers", "score": 1}, "score 1 is the place of a coordinate"),
        ({"format": "numbers", "activation": "softmax"}, "not a softmax"),
    ],
)
def test_keys_that_do_not_fit_are_refused(keys: dict[str, Any], words: str) -> None:
    with pytest.raises(SettingError, match=words):
        Keypoints(**{"names": ("a", "b"), **keys})
