"""Exports a PyTorch module to ONNX and compares the result with PyTorch's own outputs."""

from packager.workflows.export.request import Axis, ExportRequest
from packager.workflows.export.steps import ExportResult, run

__all__ = ["Axis", "ExportRequest", "ExportResult", "run"]
