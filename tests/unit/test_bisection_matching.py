"""Matching of values between two graphs, the nodes between matched values, and the number of values held at once."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy
import onnx
import pytest

from packager.verification.bisection.fusion import _fewest
from packager.verification.bisection.matching import COPIES, FEW, ChunkPlanner, matched
from packager.verification.bisection.naming import named
from packager.verification.bisection.reproduce import difference
from packager.verification.bisection.subject import BisectionSubject, opened
from tests.cases.bisection_cases import chain, side
from tests.cases.onnx_text import onnx_model, weight


def subject(folder: Path, model: onnx.ModelProto) -> BisectionSubject:
    return opened(side(folder, model), folder)


def chunks(sizes: Mapping[str, int], memory_bytes: int, values: Sequence[str] = "abcdef") -> list[str]:
    borders = {name: (values[index - 1],) if index else () for index, name in enumerate(values)}
    planner = ChunkPlanner(memory_bytes=memory_bytes, sizes=dict(sizes), borders=borders)
    return ["".join(chunk) for chunk in planner.chunks(values)]


def test_as_many_values_are_taken_as_are_known_to_fit() -> None:
    for memory_bytes, expected in [
        (COPIES * 60, ["abcdef"]),
        (COPIES * 60 - 1, ["abcde", "f"]),
        (COPIES * 30, ["abc", "de", "f"]),  # what a node takes counts, too
        (1, ["a", "b", "c", "d", "e", "f"]),
    ]:
        assert chunks(dict.fromkeys("abcdef", 10), memory_bytes) == expected
    values = [f"v{index}" for index in range(8 * FEW)]
    borders: dict[str, tuple[str, ...]] = dict.fromkeys(values, ())
    planner = ChunkPlanner(memory_bytes=1 << 30, sizes={}, borders=borders)
    assert [len(chunk) for chunk in planner.chunks(values)] == [FEW, 2 * FEW, 4 * FEW, FEW]
    values = [f"v{index}" for index in range(20)]
    unknown: dict[str, tuple[str, ...]] = dict.fromkeys(values, ())
    planner = ChunkPlanner(memory_bytes=1000, sizes={}, borders=unknown)
    found = []
    for chunk in planner.chunks(values):
        found.append(len(chunk))
        for name in chunk:
            planner.see(name, 125)
    assert found == [FEW, *[2] * 6]


def test_sizes_follow_from_the_sample_and_symbols_in_the_graph(tmp_path: Path) -> None:
    model = chain(layers=2, rows="n")
    found = matched(subject(tmp_path, model), subject(tmp_path, model), {"x": (5, 8)})
    assert found.sizes == dict.fromkeys(("m0", "v0", "m1", "v1"), 5 * 8 * 4)
    # Where shape inference ends, the exporter's shapes continue.
    model = onnx_model(
        "(float[n, 8] x) => (float[n, k] y) <float[n, 4] r> { r = com.acme.Half (x) y = Relu (r) }",
        opsets={"": 17, "com.acme": 1},
    )
    one = subject(tmp_path, model)
    assert matched(one, one, {"x": (5, 8)}).sizes["r"] == 5 * 4 * 4


def test_weights_are_not_compared_however_they_are_computed(tmp_path: Path) -> None:
    model = onnx_model(
        "(float[1, 8] x) => (float[1, 8] y) <float k = {2.0}>"
        "{ c = Constant <value = float {3.0}> () d = Mul (k, c) t = Mul (w, d) m = MatMul (x, t) y = Neg (m) }",
        weights={"w": weight(8, 8)},
    )
    one = subject(tmp_path, model)
    assert matched(one, one, {"x": (1, 8)}).values == ("m", "y")
    region = one.region(["m"], ("m", "y"))
    assert [one.nodes[place].op_type for place in region.nodes] == ["Constant", "Mul", "Mul", "MatMul"]
    assert region.borders == ("x",)


def test_what_a_value_is_computed_from_ends_at_borders_and_weights_name_it(tmp_path: Path) -> None:
    one = subject(tmp_path, chain(layers=5))
    region = one.region(["v3"], ("v1", "v3", "v4"))
    assert [one.nodes[place].name for place in region.nodes] == ["layer2", "tanh2", "layer3", "tanh3"]
    assert region.borders == ("v1",)
    model = onnx_model(
        "(float[1, 8] x) => (float[1, 8] y) { [first] m = MatMul (x, w) [limit] r = Relu (m) [turn] n = Neg (r)"
        " [last] y = Abs (n) }",
        weights={"w": weight(8, 8)},
    )
    one = subject(tmp_path, model)
    assert [named(one, value, ("r", "y")).name for value in ("r", "y")] == ["first", "last"]


@pytest.mark.parametrize("first", range(1, 18))
def test_the_fewest_values_that_are_enough_are_found(first: int) -> None:
    asked = []

    def is_enough(count: int) -> bool:
        asked.append(count)
        return count >= first

    assert _fewest(17, is_enough) == first
    assert len(asked) <= 5


def test_the_program_that_is_left_says_how_far_apart_two_arrays_are() -> None:
    for expected, actual, text in [
        ([1.0, -4.0], [1.0, -3.0], "1, 0.25 of its largest value"),
        ([1.0, 2.0], [numpy.nan, 2.0], "0, 0 of its largest value; NaN or infinity at 1 other places"),
        ([numpy.nan, numpy.inf], [numpy.nan, numpy.inf], "0"),
        ([0, 0], [0, 3], "3"),
        (["a", "b"], ["a", "c"], "1 of 2 values"),
        ([1.0], [1.0, 2.0], "its shape: [2] instead of [1]"),
    ]:
        assert difference(numpy.array(expected), numpy.array(actual)) == text
