"""From a PyTorch module to an ONNX file that computes the same: exported, and compared with PyTorch's own outputs."""

from packager.export.request import Axis, Request
from packager.export.steps import Result, run

__all__ = ["Axis", "Request", "Result", "run"]
