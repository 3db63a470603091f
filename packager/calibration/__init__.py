"""Calibration: the range of every tensor of a float graph, from samples that stream through it."""

from packager.calibration.calibrate import calibrate, warnings
from packager.calibration.request import METHODS, Method, Request
from packager.samples import Samples
from packager.values import Range

__all__ = ["METHODS", "Method", "Range", "Request", "Samples", "calibrate", "warnings"]
