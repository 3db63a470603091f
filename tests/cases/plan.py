"""Models of each precision, and the plans that targets make of them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy
import onnx
import pytest

from packager.core.values import Choice, Format, Plan, Style, Variant, baseline
from packager.files.store import Store
from tests.cases.onnx_text import loaded, onnx_model, weight

FLOAT = """(float[1,3,8,8] x) => (float[1,16,8,8] y) {
    [conv] c = Conv <pads = [1,1,1,1]> (x, w)
    [relu] y = Relu (c)
}"""

QDQ = """(float[1,3,8,8] x) => (float[1,16,8,8] y) {
    q = QuantizeLinear (x, s, z)
    d = DequantizeLinear (q, s, z)
    f = DequantizeLinear (w, s, z)
    c = Conv <pads = [1,1,1,1]> (d, f)
    cq = QuantizeLinear (c, s, z)
    y = DequantizeLinear (cq, s, z)
}"""

OPERATORS = """(float[1,64] x) => (float[1,32] y) {
    q = QuantizeLinear (x, s, z)
    m = QLinearMatMul (q, s, z, w, s, z, s, z)
    y = DequantizeLinear (m, s, z)
}"""

WEIGHT_ONLY = "(float[1,64] x) => (float[1,32] y) { f = DequantizeLinear (w, s, z) y = MatMul (x, f) }"

HALF = "(float16[1,64] x) => (float16[1,32] y) { a = MatMul (x, w) y = Relu (a) }"


def integers(element: str, *shape: int) -> Mapping[str, Any]:
    """Quantized weights with their scale and zero point."""
    numbers = numpy.random.default_rng(0).integers(0, 100, shape)
    zero = numpy.array(128 if element == "uint8" else 0, element)
    return {"w": numbers.astype(element), "s": numpy.array(0.05, numpy.float32), "z": zero}


def model_of(kind: str) -> onnx.ModelProto:
    """A small model that computes in one precision."""
    if kind == "float":
        return onnx_model(FLOAT, weights={"w": weight(16, 3, 3, 3)})
    if kind == "dynamic":
        return onnx_model(FLOAT.replace("float[1,", "float[batch,"), weights={"w": weight(16, 3, 3, 3)})
    if kind == "float16":
        return onnx_model(HALF, weights={"w": weight(64, 32).astype(numpy.float16)})
    if kind == "operators":
        return onnx_model(OPERATORS, weights=integers("uint8", 64, 32))
    if kind == "weight-only":
        return onnx_model(WEIGHT_ONLY, weights=integers("int8", 64, 32))
    element = kind.removeprefix("qdq-")
    opsets = {"": 21} if element == "uint16" else {"": 17}
    return onnx_model(QDQ, weights=integers(element, 16, 3, 3, 3), opsets=opsets, ir_version=10)


Kind = Callable[[str], Variant]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """A store for the whole module: files that several plans share are made once."""
    return Store(tmp_path_factory.mktemp("store"))


@pytest.fixture(scope="module")
def variant(tmp_path_factory: pytest.TempPathFactory) -> Kind:
    """The source variant of `model_of(KIND)`."""
    made: dict[str, Variant] = {}

    def variant(kind: str) -> Variant:
        if kind not in made:
            made[kind] = baseline(loaded(tmp_path_factory.mktemp("model"), model_of(kind)), "source")
        return made[kind]

    return variant


def quiet(part: str) -> None:
    """A console without output."""


@dataclass(frozen=True)
class Row:
    """The parts of a Choice that the plan decides."""

    provider: str
    style: Style
    format: Format
    settings: Mapping[str, str]
    reason: str


def rows(made: Plan) -> list[Row]:
    return [row(choice) for choice in made.choices]


def row(choice: Choice) -> Row:
    compiled = choice.compiled
    return Row(choice.provider, compiled.style, compiled.format, compiled.settings, choice.reason)


FIXED, UNFUSED, PLAIN = Style.FIXED, Style.UNFUSED, Style.PLAIN

ORT, ONNX = Format.ORT, Format.ONNX
