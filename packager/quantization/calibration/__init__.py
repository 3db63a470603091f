"""Calibration: the range of every tensor of a float graph, from samples that stream through it."""

from packager.core.quantized import Range
from packager.quantization.calibration.calibrate import calibrate, warnings
from packager.quantization.calibration.request import METHODS, CalibrationRequest, RangeMethod
from packager.samples import Samples

__all__ = ["METHODS", "CalibrationRequest", "Range", "RangeMethod", "Samples", "calibrate", "warnings"]
