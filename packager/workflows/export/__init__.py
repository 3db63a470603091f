"""From a PyTorch module to an ONNX file that computes the same: exported, and compared with PyTorch's own outputs."""

from packager.workflows.export.request import Axis, Request
from packager.workflows.export.steps import Result, run

__all__ = ["Axis", "Request", "Result", "run"]
