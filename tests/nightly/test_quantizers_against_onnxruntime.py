"""Our quantizers beside ONNX Runtime's own, on the same samples: ours are no less precise."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import onnx
import pytest
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_dynamic, quantize_static

from packager.quantizers.dynamic import Dynamic
from tests.cases.onnx_text import onnx_model, saved
from tests.cases.rewriting_cases import decibels, outcome, run, samples_for, static, weight

pytestmark = pytest.mark.filterwarnings("ignore")

NETS = {
    "convolutions": onnx_model(
        """(float[1,3,16,16] x) => (float[1,10] y) {
            a = Conv <pads = [1,1,1,1], strides = [2,2]> (x, k1, b1) r = Relu (a)
            c = Conv <pads = [1,1,1,1], group = 16> (r, k2, b2) d = Clip (c, low, high)
            e = Conv (d, k3, b2) s = Add (e, r) p = GlobalAveragePool (s) f = Flatten (p) y = Gemm (f, w, b)
        }""",
        weights={
            "k1": weight(16, 3, 3, 3) / 4,
            "b1": weight(16) / 2,
            "k2": weight(16, 1, 3, 3) / 3,
            "b2": weight(16, seed=1) / 2,
            "k3": weight(16, 16, 1, 1) / 4,
            "low": weight(1) * 0,
            "high": weight(1) * 0 + 6,
            "w": weight(16, 10),
            "b": weight(10),
        },
    ),
    "perceptron": onnx_model(
        """(float[8,32] x) => (float[8,8] y) {
            a = Gemm (x, w1, b1) r = Relu (a) c = MatMul (r, w2) d = Add (c, b1) t = Tanh (d)
            y = Gemm <transB = 1> (t, w3)
        }""",
        weights={"w1": weight(32, 64) / 5, "b1": weight(64), "w2": weight(64, 64) / 8, "w3": weight(8, 64)},
    ),
    "attention": onnx_model(
        """(float[2,16,32] x) => (float[2,16,32] y) {
            q = MatMul (x, wq) k = MatMul (x, wk) v = MatMul (x, wv) t = Transpose <perm = [0,2,1]> (k)
            s = MatMul (q, t) p = Softmax (s) c = MatMul (p, v) o = MatMul (c, wo) r = Add (o, x)
            n = LayerNormalization (r, g, b) y = MatMul (n, wf)
        }""",
        weights={
            **{f"w{name}": weight(32, 32, seed=seed) / 6 for seed, name in enumerate("qkvof")},
            "g": weight(32, seed=7),
            "b": weight(32, seed=8),
        },
    ),
}


def theirs(name: str, content: Path) -> float:
    made = onnx.load(content)
    samples = samples_for(NETS[name])
    pairs = []
    for inputs in samples:
        expected, found = run(NETS[name], inputs), run(made, inputs)
        pairs += [(expected[output], found[output]) for output in expected]
    return decibels(pairs)


def ours(name: str, quantizer: Any) -> float:
    samples = samples_for(NETS[name])
    made = outcome(NETS[name], quantizer, samples)
    pairs = []
    for inputs in samples:
        expected, found = run(NETS[name], inputs), run(made.model, inputs)
        pairs += [(expected[output], found[output]) for output in expected]
    return decibels(pairs)


class Reader(CalibrationDataReader):  # type: ignore[misc]
    def __init__(self, name: str) -> None:
        self.samples: Iterator[Any] = iter(samples_for(NETS[name]))

    def get_next(self) -> Any:
        return next(self.samples, None)


@pytest.mark.parametrize("name", NETS)
def test_static_quantization(name: str, tmp_path: Path) -> None:
    quantize_static(
        saved(tmp_path / "m.onnx", NETS[name]),
        tmp_path / "q.onnx",
        Reader(name),
        quant_format=QuantFormat.QDQ,
        per_channel=True,
        activation_type=QuantType.QInt8,
        weight_type=QuantType.QInt8,
    )
    assert ours(name, static()) >= theirs(name, tmp_path / "q.onnx") - 0.1


@pytest.mark.parametrize("name", ["perceptron", "attention"])
def test_dynamic_quantization(name: str, tmp_path: Path) -> None:
    quantize_dynamic(
        saved(tmp_path / "m.onnx", NETS[name]), tmp_path / "q.onnx", per_channel=True, op_types_to_quantize=["MatMul"]
    )
    assert ours(name, Dynamic(operators=("MatMul",))) >= theirs(name, tmp_path / "q.onnx") - 0.1
