"""Exports a PyTorch module to ONNX and compares the result with PyTorch's own outputs."""

from packager.workflows.export.request import Axis, Request
from packager.workflows.export.steps import Result, run

__all__ = ["Axis", "Request", "Result", "run"]
