"""Statistics of the calibration process equal numpy's on every output, in any number of threads and after any break."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy
import onnxruntime
import pytest

from packager.core.errors import ConfigError, MobpackError, ModelError
from packager.quantization.calibration.statistics import load
from packager.quantization.calibration.taps import tap
from packager.samples.recorded import OUTPUTS, recorded
from tests.cases.calibration_cases import job, normal, written
from tests.cases.calibration_watch import ALL, BLOCK_MODEL, assert_same, folder, watched
from tests.cases.onnx_text import onnx_model

__all__ = ["folder"]


SCALED = "(float[N] x) => (float[N] y) { half = Constant <value = float {0.5}> () h = Mul (x, half) y = Log (h) }"


def refusal(tmp_path: Path, graph: str, tensors: list[str], samples: list[dict[str, Any]]) -> MobpackError:
    tmp_path.mkdir(exist_ok=True)
    told = job(onnx_model(graph), tensors, written(tmp_path / "samples", samples))
    with pytest.raises(MobpackError) as caught:
        watched(told)
    return caught.value


def test_it_sees_what_onnxruntime_computes(folder: Path) -> None:
    statistics, done = watched(job(BLOCK_MODEL, ALL, folder))
    assert statistics.names == ("x", "c", "r", "s", "m")
    assert done == [1, 2, 3, 4, 5]
    session = onnxruntime.InferenceSession(tap(BLOCK_MODEL.SerializeToString(), ALL).graph)
    for number, path in enumerate(sorted(folder.glob("*.npz"))):
        x = numpy.load(path)["x"]
        values = [x, *session.run(["c", "r", "s", "m"], {"x": x})]
        expected = [[each.min(), each.max()] for each in values]
        numpy.testing.assert_allclose(statistics.extremes[number], expected, rtol=1e-6)
    assert {name: each.counts.sum() for name, each in statistics.histograms.items()} == dict.fromkeys(ALL, 5 * 256)


def test_threads_and_groups_change_nothing(folder: Path) -> None:
    files = []
    for threads in (1, 3):
        told = job(BLOCK_MODEL, ALL, folder, threads=threads)
        watched(told)
        files.append(load(Path(told.output)))
    assert_same(*files)
    # Values one at a time, in pairs, and all at once.
    whole, _ = watched(job(BLOCK_MODEL, ALL, folder))
    size = 4 * 4 * 8 * 8
    for group_bytes in (1, 2 * size, 4 * size):
        told = replace(job(BLOCK_MODEL, ALL, folder), group_bytes=group_bytes)
        Path(told.unfinished).unlink(missing_ok=True)
        found, _ = watched(told)
        assert_same(whole, found)


@pytest.mark.parametrize("tensors", [["x", "r"], ["m"], ["x"]])  # "y" is "m" in another shape
def test_outputs_are_recorded_on_the_way(tmp_path: Path, folder: Path, tensors: list[str]) -> None:
    without, _ = watched(job(BLOCK_MODEL, tensors, folder))
    Path(job(BLOCK_MODEL, tensors, folder).unfinished).unlink(missing_ok=True)
    told = replace(job(BLOCK_MODEL, tensors, folder), outputs=str(tmp_path), given=["y"])
    found, _ = watched(told)
    assert_same(without, found)
    session = onnxruntime.InferenceSession(BLOCK_MODEL.SerializeToString())
    for number, path in enumerate(sorted(folder.glob("*.npz"))):
        expected = session.run(["y"], {"x": numpy.load(path)["x"]})
        numpy.testing.assert_allclose(recorded(tmp_path, number, OUTPUTS, 1), expected, rtol=1e-4, atol=1e-5)


def test_samples_keep_their_numbers_when_a_run_goes_on(folder: Path) -> None:
    watched(job(BLOCK_MODEL, ["r"], folder))
    numpy.savez(folder / "0005.npz", x=numpy.full((1, 4, 8, 8), numpy.nan, numpy.float32))
    told = job(BLOCK_MODEL, ["r"], folder)
    Path(told.output).rename(told.unfinished)
    with pytest.raises(ModelError, match="sample 5 makes NaN"):
        watched(told)


@pytest.mark.parametrize("content", [b"", b"PK\3\4 torn", None], ids=["empty", "torn", "of other tensors"])
def test_unfinished_statistics_that_cannot_be_used_are_left_aside(folder: Path, content: bytes | None) -> None:
    if content is None:
        watched(job(BLOCK_MODEL, ["c"], folder))
    told = job(BLOCK_MODEL, ALL, folder)
    if content is None:
        Path(told.output).rename(told.unfinished)
    else:
        Path(told.unfinished).write_bytes(content)
    assert watched(told)[1] == [1, 2, 3, 4, 5]


def test_nan_and_infinity_name_the_first_tensor_and_the_sample(tmp_path: Path) -> None:
    good, bad = numpy.ones(3, numpy.float32), numpy.array([1, -1, 1], numpy.float32)
    error = refusal(tmp_path, SCALED, ["x", "h", "y"], [{"x": good}, {"x": bad}])
    assert error.message == "sample 1 makes NaN in tensor 'y'"
    error = refusal(tmp_path / "zero", SCALED, ["x", "y"], [{"x": 0 * good}])
    assert error.message == "sample 0 makes infinity in tensor 'y'"
    error = refusal(
        tmp_path / "input", SCALED, ["y", "x"], [{"x": good}, {"x": good}, {"x": good * numpy.float32("nan")}]
    )
    assert error.message == "sample 2 makes NaN in tensor 'x'"


def test_a_sample_that_onnxruntime_refuses_is_named_with_its_words(tmp_path: Path) -> None:
    graph = "(float[3] x) => (float[3] y) { y = Relu (x) }"
    good, long = numpy.ones(3, numpy.float32), numpy.ones(4, numpy.float32)
    error = refusal(tmp_path, graph, ["y"], [{"x": good}, {"x": long}])
    assert isinstance(error, ConfigError)
    assert "refuses sample 1" in error.message
    assert "Got: 4 Expected: 3" in error.message
    error = refusal(tmp_path / "type", graph, ["y"], [{"x": good.astype(numpy.int64)}])
    assert "refuses sample 0" in error.message
    error = refusal(tmp_path / "name", graph, ["x"], [{"z": good}])
    assert error.message == "sample 0 has no input 'x'"


def test_fewer_samples_than_expected_are_an_error(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="5 samples could be read, 6 were expected"):
        watched(job(BLOCK_MODEL, ["r"], folder, count=6))
    with pytest.raises(ConfigError, match="0 samples could be read") as caught:
        watched(job(BLOCK_MODEL, ["r"], written(tmp_path / "none", []), count=1))
    assert caught.value.hint == "give at least one sample"


def test_what_has_no_floating_point_is_refused(tmp_path: Path) -> None:
    graph = "(float[2] x, int64[2] i) => (int64[1] y) { y = Shape (x) }"
    feed = {"x": numpy.ones(2, numpy.float32), "i": numpy.ones(2, numpy.int64)}
    assert "'y' is a tensor(int64)" in refusal(tmp_path, graph, ["y"], [feed]).message
    assert "'i' is int64" in refusal(tmp_path / "input", graph, ["i"], [feed]).message


def test_a_graph_that_onnxruntime_refuses_is_an_error_with_its_words(tmp_path: Path) -> None:
    error = refusal(tmp_path, "(float[2] x) => (float[2] y) { y = NoSuchThing (x) }", ["y"], normal(1, 2))
    assert isinstance(error, ModelError)
    assert "NoSuchThing" in error.message


def test_other_floats_are_seen_as_they_are(tmp_path: Path) -> None:
    graph = """(float[4] x) => (double[4] d, float16[4] f) {
        d = Cast <to = 11> (x)
        f = Cast <to = 10> (x)
    }"""
    x = numpy.array([-3.5, 0, 1, 2.25], numpy.float32)
    statistics, _ = watched(job(onnx_model(graph), ["d", "f"], written(tmp_path / "samples", [{"x": x}])))
    assert statistics.extremes.tolist() == [[[-3.5, 2.25], [-3.5, 2.25]]]


def test_empty_tensors_are_no_error(tmp_path: Path) -> None:
    samples = [{"x": numpy.zeros(size, numpy.float32)} for size in (0, 2, 0)]
    graph = "(float[N] x) => (float[N] y) { y = Cos (x) }"
    statistics, _ = watched(job(onnx_model(graph), ["x", "y"], written(tmp_path / "samples", samples)))
    assert statistics.extremes[1].tolist() == [[0, 0], [1, 1]]
    assert statistics.histograms["y"].counts.sum() == 2


def test_the_output_of_a_branch_and_of_a_constant_can_be_seen(tmp_path: Path) -> None:
    graph = """(float[1] x) => (float[1] y) {
        two = Constant <value = float[1] {2.0}> ()
        c = Greater (x, two)
        y = If (c) <
            then_branch = yes () => (float[1] a) { a = Neg (x) },
            else_branch = no () => (float[1] b) { b = Identity (two) }
        >
    }"""
    samples = [{"x": numpy.array([value], numpy.float32)} for value in (1, 5)]
    statistics, _ = watched(job(onnx_model(graph), ["two", "y"], written(tmp_path / "samples", samples)))
    assert statistics.extremes[:, :, 0].tolist() == [[2, 2], [2, -5]]
