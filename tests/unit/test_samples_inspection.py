"""Notes on samples before a model is calibrated on them."""

from pathlib import Path
from typing import Any

import numpy
import pytest

from packager.core.errors import ConfigError
from packager.core.values import Model
from packager.samples import Inspection, Settings, describe, inspect
from packager.samples.reading import open_described
from tests.cases.onnx_text import loaded, onnx_model, weight

GRAPH = """(float[1, 4] x, int64[1, 3] mask) => (float[1, 4] y, int64[1, 3] m) {
    y = Relu (x) m = Identity (mask)
}"""


@pytest.fixture
def model(tmp_path: Path) -> Model:
    return loaded(tmp_path, onnx_model(GRAPH))


def rows(count: int = 10) -> Any:
    return weight(count, 4)


def found(model: Model, folder: Path, *, x: Any, mask: Any = None, **keys: Any) -> Inspection:
    numpy.savez(folder / "s.npz", x=x, mask=numpy.ones((len(x), 3), "i8") if mask is None else mask)
    return inspect(str(folder / "s.npz"), model, Settings(**keys))


def texts(inspection: Inspection) -> list[tuple[str, str]]:
    return [(problem.severity, problem.text) for problem in inspection.problems]


def test_samples_need_numbers_and_differences(tmp_path: Path, model: Model) -> None:
    inspection = found(model, tmp_path, x=rows())
    assert (inspection.count, inspection.problems) == (10, ())
    inspection = found(model, tmp_path, x=rows()[:0])
    assert inspection.count == 0
    assert texts(inspection) == [("error", f"no samples in {tmp_path / 's.npz'}")]
    few = [("warning", "too few samples: ranges from 7 are unreliable; use 32 to 128")]
    assert texts(found(model, tmp_path, x=rows(7))) == few
    assert texts(found(model, tmp_path, x=rows(), limit=7)) == few
    assert texts(found(model, tmp_path, x=rows(8))) == []
    x = rows().astype("f8")
    x[1, 0] = 1e300
    assert texts(found(model, tmp_path, x=x)) == [
        ("error", "sample 1 (s.npz[1]): input 'x' holds infinity"),
        ("warning", "input 'x': float64 numbers are rounded to float32"),
    ]
    x = rows()
    assert texts(found(model, tmp_path, x=x[[0] * 10])) == [("warning", "all 10 samples are the same")]
    assert texts(found(model, tmp_path, x=x[[0, 0, 0, 3, 3, 5, 6, 7, 8, 9]])) == [
        ("warning", "3 of 10 samples are copies of others")
    ]
    level = numpy.repeat(numpy.arange(10, dtype="f4"), 4).reshape(10, 4)
    warning = [("warning", "input 'x' is one value throughout every sample")]
    assert texts(found(model, tmp_path, x=level)) == warning
    level[3, 0] = 0
    assert texts(found(model, tmp_path, x=level)) == []


@pytest.mark.parametrize(("value", "word"), [(numpy.nan, "NaN"), (numpy.inf, "infinity"), (-numpy.inf, "infinity")])
def test_what_is_no_number_is_an_error_with_its_place(tmp_path: Path, model: Model, value: float, word: str) -> None:
    x = rows()
    x[6, 2] = value
    assert texts(found(model, tmp_path, x=x)) == [("error", f"sample 6 (s.npz[6]): input 'x' holds {word}")]


def test_problems_are_told_once_the_worst_first_and_five_of_a_kind(tmp_path: Path, model: Model) -> None:
    x = rows(20)
    x[3:] = numpy.nan
    told = texts(found(model, tmp_path, x=x))
    assert len(told) == 6
    assert told[4:] == [
        ("error", "sample 7 (s.npz[7]): input 'x' holds NaN"),
        ("error", "and 12 more samples with NaN or infinity"),
    ]
    x = rows(3).astype("f8")
    x[2] = numpy.nan
    inspection = found(model, tmp_path, x=x)
    assert [problem.severity for problem in inspection.problems] == ["error", "warning", "warning"]
    assert [problem.text for problem in inspection.errors] == ["sample 2 (s.npz[2]): input 'x' holds NaN"]


def test_the_fingerprint_follows_every_bit_that_is_fed(tmp_path: Path, model: Model) -> None:
    x, mask = rows(), numpy.ones((10, 3), "i8")
    first = found(model, tmp_path, x=x).fingerprint
    folder = tmp_path / "one each"
    folder.mkdir()
    for number in range(10):
        numpy.savez_compressed(folder / f"{number}.npz", mask=mask[number], x=x[number].astype(">f4"))
    assert inspect(str(folder), model, Settings()).fingerprint == first
    assert found(model, tmp_path, x=numpy.asfortranarray(x)).fingerprint == first
    x = rows()
    changed = x.copy()
    changed[9, 3] = numpy.nextafter(changed[9, 3], numpy.float32(9))
    masked = numpy.ones((10, 3), "i8")
    masked[0, 0] = 0
    all_found = [
        found(model, tmp_path, x=x),
        found(model, tmp_path, x=changed),
        found(model, tmp_path, x=x[::-1]),
        found(model, tmp_path, x=x, mask=masked),
        found(model, tmp_path, x=x, limit=9),
    ]
    assert len({inspection.fingerprint for inspection in all_found}) == 5


def test_a_wrong_sample_is_told_here_and_stops_those_who_read_on(tmp_path: Path, model: Model) -> None:
    folder = tmp_path / "f"
    folder.mkdir()
    for number in range(9):
        numpy.savez(folder / f"{number}.npz", x=rows()[number], mask=numpy.ones((1, 3), "i8"))
    numpy.savez(folder / "4.npz", x=rows(1)[:, :3], mask=numpy.ones((1, 3), "i8"))
    numpy.savez(folder / "6.npz", x=rows(1))
    assert texts(inspect(str(folder), model, Settings())) == [
        ("error", "4.npz: input 'x' needs 1x4, got 1x3"),
        ("error", "6.npz: no input 'mask'"),
    ]
    reader = open_described(describe(str(folder), model, Settings()))
    assert [next(reader)["x"].shape for _ in range(4)] == [(1, 4)] * 4
    with pytest.raises(ConfigError, match=r"4\.npz: input 'x' needs 1x4, got 1x3"):
        next(reader)
