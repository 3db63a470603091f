"""Variants of one node whose kernels are looked for."""

from pathlib import Path

import onnx

from packager.compile.compile import compile_plain
from packager.core.values import Compiled, Variant, baseline
from packager.files.store import Store
from tests.cases.onnx_text import loaded, onnx_model


def variant_of(folder: Path, model: onnx.ModelProto) -> Variant:
    described = loaded(folder, model)
    return baseline(described)


def plain(folder: Path, graph: str, opset: int = 20) -> Compiled:
    """An ONNX file of `graph`, without conversion."""
    return compile_plain(variant_of(folder, onnx_model(graph, opsets={"": opset})), Store(folder / "store"))
