"""Branches in loops in branches, scans and functions: what mobpack rewrites of them opens and computes the same."""

from collections.abc import Callable
from pathlib import Path

import numpy
import onnxruntime

from tests.cases.nested_nets import SHAPE

FEED = {"x": numpy.random.default_rng(1).uniform(-1, 1, SHAPE).astype(numpy.float32)}


def options(*, is_optimized: bool) -> Callable[[], onnxruntime.SessionOptions]:
    def made() -> onnxruntime.SessionOptions:
        given = onnxruntime.SessionOptions()
        given.log_severity_level = 4
        given.intra_op_num_threads = 1
        levels = onnxruntime.GraphOptimizationLevel
        given.graph_optimization_level = levels.ORT_ENABLE_ALL if is_optimized else levels.ORT_DISABLE_ALL
        return given

    return made


def in_ort_format(model: Path) -> Path:
    path = model.with_suffix(".ort")
    made = options(is_optimized=True)()
    made.optimized_model_filepath = str(path)
    made.add_session_config_entry("session.save_model_format", "ORT")
    onnxruntime.InferenceSession(
        str(model), made, providers=["CPUExecutionProvider"], disabled_optimizers=["NchwcTransformer"]
    )
    return path
