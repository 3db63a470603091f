"""Ranges beside those of ONNX Runtime's own calibrators, on the same samples."""

import contextlib
import io
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy
import onnx
import onnx.shape_inference
import pytest
from onnxruntime.quantization.calibrate import CalibrationDataReader, CalibrationMethod, create_calibrator

from packager.core.quantized import Range
from packager.files.processes.channel import Channel
from packager.quantization.calibration import RangeMethod
from packager.quantization.calibration.calibrate import ranges_of
from packager.quantization.calibration.child import watch
from packager.quantization.calibration.statistics import load
from packager.quantization.calibration.taps import tap
from tests.cases.calibration_cases import BLOCK, job, normal, written
from tests.cases.onnx_text import linear, onnx_model, saved, weight

DEEP = """(float[1, 32] x) => (float[1, 32] y) {
    a = MatMul (x, w) g = Sigmoid (a) b = Mul (a, g) c = MatMul (b, w) n = Neg (c) r = Relu (n) y = Softmax (r)
}"""
NETS = {
    "block": (onnx_model(BLOCK, weights={"w": weight(4, 4, 3, 3)}), (1, 4, 8, 8)),
    "linear": (linear(), (1, 64)),
    "deep": (onnx_model(DEEP, weights={"w": weight(32, 32)}), (1, 32)),
}
SAMPLES = 24


class Reader(CalibrationDataReader):  # type: ignore[misc]
    def __init__(self, samples: Iterable[dict[str, Any]]) -> None:
        self.samples = iter(samples)

    def get_next(self) -> dict[str, Any] | None:
        return next(self.samples, None)


@pytest.fixture(params=sorted(NETS))
def case(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[onnx.ModelProto, Path]:
    model, shape = NETS[request.param]
    return onnx.shape_inference.infer_shapes(model), written(tmp_path / "samples", normal(SAMPLES, *shape))


def arrays(folder: Path) -> list[dict[str, Any]]:
    return [dict(numpy.load(path)) for path in sorted(folder.glob("*.npz"))]


def theirs(
    model: onnx.ModelProto, folder: Path, method: CalibrationMethod, *, one_by_one: bool = False, **options: Any
) -> dict[str, Any]:
    """Ranges that ONNX Runtime's calibrator finds, tensor -> (low, high)."""
    path = saved(folder.with_name("model.onnx"), model)
    calibrator = create_calibrator(
        path,
        augmented_model_path=str(folder.with_name("augmented.onnx")),
        calibrate_method=method,
        extra_options=options,
    )
    samples = arrays(folder)
    with contextlib.redirect_stdout(io.StringIO()):
        for part in [[each] for each in samples] if one_by_one else [samples]:
            calibrator.collect_data(Reader(part))
        found = calibrator.compute_data()
    return {name: tuple(float(numpy.ravel(each)[0]) for each in data.range_value) for name, data in found.items()}


def ours(model: onnx.ModelProto, folder: Path, names: Iterable[str], method: RangeMethod) -> dict[str, Range]:
    tensors = sorted(names)
    told = job(model, tensors, folder)
    watch(told, Channel(io.StringIO(), io.StringIO()))
    return ranges_of(load(Path(told.output)), tap(model.SerializeToString(), tensors).sources, method)


def test_minmax_is_theirs(case: tuple[onnx.ModelProto, Path]) -> None:
    expected = theirs(*case, CalibrationMethod.MinMax)
    assert expected
    for name, found in ours(*case, expected, RangeMethod()).items():
        assert (found.low, found.high) == pytest.approx(expected[name], rel=1e-5, abs=1e-6), name


@pytest.mark.parametrize("smoothing", [0.01, 0.3])
def test_moving_average_is_theirs(case: tuple[onnx.ModelProto, Path], smoothing: float) -> None:
    expected = theirs(
        *case, CalibrationMethod.MinMax, one_by_one=True, moving_average=True, averaging_constant=smoothing
    )
    for name, found in ours(*case, expected, RangeMethod(name="moving-average", smoothing=smoothing)).items():
        assert (found.low, found.high) == pytest.approx(expected[name], rel=1e-4, abs=1e-6), name


@pytest.mark.parametrize("percent", [99.0, 99.999])
@pytest.mark.parametrize("is_symmetric", [False, True])
def test_percentile_is_theirs_within_a_bin(
    case: tuple[onnx.ModelProto, Path], percent: float, is_symmetric: bool
) -> None:
    expected = theirs(*case, CalibrationMethod.Percentile, symmetric=is_symmetric, num_bins=2048, percentile=percent)
    method = RangeMethod(name="percentile", percentile=percent, is_symmetric=is_symmetric)
    everything = ours(*case, expected, RangeMethod())
    for name, found in ours(*case, expected, method).items():
        widest = max(-everything[name].low, everything[name].high)
        assert (found.low, found.high) == pytest.approx(expected[name], abs=1.1 * 2 * widest / 2048), name
