"""Measures a quantized model against its float original: accuracy, by layer and by a metric, and latency."""

from packager.quantization.measurement.evaluator import Evaluator
from packager.quantization.measurement.gate import FileSizes, gate
from packager.quantization.measurement.hosts import as_measured
from packager.quantization.measurement.latency import Latency, latency
from packager.quantization.measurement.layers import LayerError, layer_errors
from packager.quantization.measurement.metrics import Score
from packager.quantization.measurement.page import write_report
from packager.quantization.measurement.report import (
    LayerChoice,
    QuantizationReport,
    ReportedEvaluation,
    ReportedSearch,
    ReportedSide,
    SamplesUsed,
    as_json,
)
from packager.quantization.measurement.subject import MeasuredGraph
from packager.samples import Samples

__all__ = [
    "Evaluator",
    "FileSizes",
    "Latency",
    "LayerChoice",
    "LayerError",
    "MeasuredGraph",
    "QuantizationReport",
    "ReportedEvaluation",
    "ReportedSearch",
    "ReportedSide",
    "Samples",
    "SamplesUsed",
    "Score",
    "as_json",
    "as_measured",
    "gate",
    "latency",
    "layer_errors",
    "write_report",
]
