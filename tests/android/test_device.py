"""Android's own library opens the files that a plan makes for it, and refuses others."""

from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from onnx import ModelProto

from packager.compile import plan
from packager.core.errors import GateError
from packager.core.findings import Partition
from packager.core.values import baseline
from packager.files.store import Store
from packager.targets.android import Android
from packager.verification.partition.report import Gates, enforce_partition_gates, measured, partitions
from tests.cases.onnx_text import loaded, onnx_model
from tests.toolchain.environments import have

CHANNELS = 512
"""Their biases and scales have 2048 bytes: more than stays in the graph when weights are taken out."""


def quantized_convolution(element: str) -> ModelProto:
    """A convolution as ONNX Runtime's quantizer writes it, with a scale of its own for each channel of the weights."""
    generator = np.random.default_rng(1)
    return onnx_model(
        f"""
        (float[1, 2, 4, 4] x) => (float[1, {CHANNELS}, 4, 4] y) <float s = {{0.02}}, {element} z = {{12}}> {{
            [q] a = QuantizeLinear (x, s, z)
            [d] b = DequantizeLinear (a, s, z)
            [w] v = DequantizeLinear <axis = 0> (weights, scales, zeros)
            [i] c = DequantizeLinear <axis = 0> (biases, bias_scales, bias_zeros)
            [conv] e = Conv (b, v, c)
            [r] f = QuantizeLinear (e, s, z)
            [o] y = DequantizeLinear (f, s, z)
        }}""",
        weights={
            "weights": generator.integers(-128, 127, (CHANNELS, 2, 1, 1), np.int8),
            "scales": np.full(CHANNELS, 0.03, np.float32),
            "zeros": np.zeros(CHANNELS, np.int8),
            "biases": generator.integers(-99, 99, CHANNELS, np.int32),
            "bias_scales": np.full(CHANNELS, 0.02 * 0.03, np.float32),
            "bias_zeros": np.zeros(CHANNELS, np.int32),
        },
    )


def quantized_softmax(scale: float) -> ModelProto:
    return onnx_model(f"""
        (float[1, 8] x) => (float[1, 8] y)
        <float s = {{0.02}}, uint8 z = {{128}}, float t = {{{scale}}}, uint8 n = {{0}}> {{
            [q] a = QuantizeLinear (x, s, z)
            [d] b = DequantizeLinear (a, s, z)
            [softmax] c = Softmax (b)
            [r] e = QuantizeLinear (c, t, n)
            [o] y = DequantizeLinear (e, t, n)
        }}""")


def split(model: ModelProto, provider: str, folder: Path, *, form: Literal["auto", "onnx"] = "auto") -> Partition:
    """The provider itself takes these, as its rules say."""
    have("android")
    variant = baseline(loaded(folder, model), "source")
    made = plan.make(variant, Android(providers=(provider,), format=form), Store(folder / "store"), lambda text: None)
    scratch = folder / "scratch"
    scratch.mkdir()
    (found,) = measured(made, scratch)
    (predicted,) = partitions(made)
    assert (bool(found.refusal), found.share) == (bool(predicted.refusal), predicted.share)
    return found


@pytest.mark.parametrize("form", ["auto", "onnx"])
@pytest.mark.parametrize("element", ["uint8", "int8"])
def test_nnapi_takes_a_quantized_model(element: str, form: Literal["auto", "onnx"], tmp_path: Path) -> None:
    """It knows uint8 activations alone, and looks for scales and biases without the path of the model: they must not
    be among the weights outside the graph."""
    found = split(quantized_convolution(element), "nnapi", tmp_path, form=form)
    assert found.refusal == ""
    assert found.share == 1.0


def test_a_provider_that_cannot_open_its_file_is_reported_in_its_own_words(tmp_path: Path) -> None:
    """Its uint8 softmax has one output scale only, 1/256; ONNX Runtime offers it any scale that is close."""
    (tmp_path / "good").mkdir()
    good = split(quantized_softmax(1 / 256), "xnnpack", tmp_path / "good")
    assert (good.refusal, good.taken_count) == ("", 3)
    bad = split(quantized_softmax(0.0039), "xnnpack", tmp_path)
    assert "xnn_create_softmax_nc_qu8 failed" in bad.refusal
    assert "/" not in bad.refusal, "a place in ONNX Runtime's source tells its users nothing"
    assert (bad.taken_count, bad.partition_count, bad.share) == (0, 0, None)


def test_a_gate_stops_a_provider_that_cannot_open_its_file(tmp_path: Path) -> None:
    bad = split(quantized_softmax(0.0039), "xnnpack", tmp_path)
    with pytest.raises(GateError, match=r"model 'm' on android, xnnpack: cannot run its file: .*softmax"):
        enforce_partition_gates((bad,), Gates(max_partitions=100))
