"""Scales of the version before: kept where the new weights fit, refused where they mean something else."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy
import onnx
import pytest
from onnx import numpy_helper

from packager.core.errors import ConfigError
from packager.core.quantized import ScaleChoice
from packager.distribution import deltas
from packager.graph.rewriting.draft import draft_of
from packager.graph.weights.keeping import LARGEST_CUT, LARGEST_FACTOR, Scaling, kept
from packager.graph.weights.rounding import Element, Parameters, range_parameters, round_in_place
from packager.quantization import scales
from packager.quantization.making import quantize
from packager.quantizers import Quantizer, StaticQdq
from packager.quantizers.dynamic import Dynamic
from packager.quantizers.weight_only import WeightOnly
from tests.cases import onnx_text
from tests.cases.cli import Mobpack, mobpack
from tests.cases.rewriting_cases import inferred, measured, run, static
from tests.cases.scales import STATIC, net, project, samples

__all__ = ["mobpack"]

QUANTIZERS: dict[str, Callable[[], Quantizer]] = {
    "static-qdq": static,
    "static-qdq in uint8": lambda: static(weights="uint8", per_channel=False),
    "dynamic": Dynamic,
    "weight-only": lambda: WeightOnly(bits=8),
    "weight-only in 4 bits": WeightOnly,
}


def made(folder: Path, model: onnx.ModelProto, quantizer: Quantizer, earlier: Path | None = None) -> Path:
    """A folder with the graph, the scales and what was kept."""
    folder.mkdir()
    graph, ranges = inferred(model).SerializeToString(), {}
    if isinstance(quantizer, StaticQdq):
        ranges = measured(model, quantizer.measures(draft_of(graph, Path())), samples())
    found = scales.read(earlier) if earlier else scales.NO_SCALES
    quantize(graph, Path(), quantizer, ranges, folder, found)
    return folder


def counts(folder: Path) -> tuple[int, int]:
    """Number of scales that are kept, and of all."""
    choices = json.loads((folder / "scales.json").read_text(encoding="utf-8"))
    return sum(each["kept"] for each in choices), sum(each["count"] for each in choices)


def whole(folder: Path) -> Path:
    """The model as one file."""
    model = onnx.load(folder / "graph.onnx")
    path = folder / "whole.onnx"
    path.write_bytes(model.SerializeToString(deterministic=True))
    return path


def loaded(folder: Path) -> onnx.ModelProto:
    return onnx.load(whole(folder))


@pytest.mark.parametrize("name", QUANTIZERS)
def test_the_same_weights_keep_every_scale_and_give_the_same_bytes(tmp_path: Path, name: str) -> None:
    first = made(tmp_path / "first", net(), QUANTIZERS[name]())
    again = made(tmp_path / "again", net(), QUANTIZERS[name](), first / "scales.safetensors")
    number, of = counts(again)
    assert number == of > 2
    for file in ("graph.onnx", "weights.bin", "scales.safetensors"):
        assert (first / file).read_bytes() == (again / file).read_bytes()


@pytest.mark.parametrize("name", QUANTIZERS)
def test_moved_weights_keep_most_scales_and_make_a_smaller_delta_at_the_same_error(tmp_path: Path, name: str) -> None:
    first = made(tmp_path / "first", net(), QUANTIZERS[name]())
    own = made(tmp_path / "own", net(1e-3), QUANTIZERS[name]())
    same = made(tmp_path / "same", net(1e-3), QUANTIZERS[name](), first / "scales.safetensors")
    number, of = counts(same)
    assert number > 0.95 * of
    sizes = [len(deltas.make(whole(first), whole(each))) for each in (same, own)]
    assert sizes[0] < sizes[1]
    expected = run(net(1e-3), samples()[0])["y"]
    errors = [numpy.abs(run(loaded(each), samples()[0])["y"] - expected).mean() for each in (same, own)]
    assert 0 < errors[0] < 1.1 * errors[1]


@pytest.mark.parametrize("grown", [1.3, 0.7])
def test_weights_that_no_longer_fit_get_their_own_scales_with_a_reason(tmp_path: Path, grown: float) -> None:
    first = made(tmp_path / "first", net(), static())
    made(tmp_path / "next", net(grown=grown), static(), first / "scales.safetensors")
    choices = json.loads((tmp_path / "next" / "scales.json").read_text(encoding="utf-8"))
    (weight,) = [each for each in choices if each["name"] == "g"]
    assert weight["kept"] == 0
    assert weight["reason"] == ("64 ranges outgrown" if grown > 1 else "64 ranges less than 1 / 1.25 of the earlier")
    (other,) = [each for each in choices if each["name"] == "w"]
    assert (other["kept"], other["reason"]) == (64, "")
    own = made(tmp_path / "own", net(grown=grown), static())
    found = [{each.name: each for each in loaded(path).graph.initializer} for path in (own, tmp_path / "next")]
    assert found[0]["g_quantized"] == found[1]["g_quantized"]


def test_scales_of_an_lstm_are_kept(tmp_path: Path) -> None:
    def lstm(factor: float) -> onnx.ModelProto:
        weights = {
            "w": (factor * onnx_text.weight(1, 64, 8).astype(float)).astype("float32"),
            "r": onnx_text.weight(1, 64, 16, seed=1),
        }
        text = "(float[5, 1, 8] x) => (float[5, 1, 1, 16] y) { y = LSTM <hidden_size = 16> (x, w, r) }"
        return onnx_text.onnx_model(text, weights=weights)

    first = made(tmp_path / "first", lstm(1), Dynamic())
    same = made(tmp_path / "same", lstm(1.01), Dynamic(), first / "scales.safetensors")
    assert counts(same) == (128, 128)
    assert counts(made(tmp_path / "other", lstm(2), Dynamic(), first / "scales.safetensors")) == (64, 128)


def test_scales_of_a_table_are_kept(tmp_path: Path) -> None:
    def table(factor: float) -> onnx.ModelProto:
        text = "(int64[2] x) => (float[2, 128] y) { y = Gather (t, x) }"
        return onnx_text.onnx_model(
            text, weights={"t": (factor * onnx_text.weight(20, 128).astype(float)).astype("float32")}
        )

    first = made(tmp_path / "first", table(1), Dynamic())
    assert counts(made(tmp_path / "same", table(1.01), Dynamic(), first / "scales.safetensors")) == (40, 40)


def test_a_tensor_that_is_new_has_scales_of_its_own(tmp_path: Path) -> None:
    first = made(tmp_path / "first", net(), static(exclude=("y",)))
    made(tmp_path / "next", net(), static(), first / "scales.safetensors")
    choices = json.loads((tmp_path / "next" / "scales.json").read_text(encoding="utf-8"))
    reasons = {each["name"]: each["reason"] for each in choices if each["kind"].startswith("weight")}
    assert reasons == {"w": "", "g": "not in the earlier scales"}


@pytest.mark.parametrize("element", ["int8", "uint8", "uint4", "uint16"])
@pytest.mark.parametrize("is_symmetric", [True, False])
def test_a_range_is_kept_up_to_the_limits_and_not_beyond(element: Element, is_symmetric: bool) -> None:
    def of(low: float, high: float) -> Parameters:
        return range_parameters(low, high, element, is_symmetric=is_symmetric)

    before, step = of(-4.0, 4.0), 0.8 / (2 ** (4 if element == "uint4" else 8) - 1)
    for width, fits in (
        (8 * (1 + 2 * LARGEST_CUT) - 2 * step - 0.01, True),
        (8 * (1 + 2 * LARGEST_CUT) + 12 * step, False),
        (8 / LARGEST_FACTOR + 0.01, True),
        (8 / LARGEST_FACTOR - 0.01, False),
    ):
        if element == "uint4" and width > 8:
            continue  # its steps are wider than the limit
        own = of(-width / 2, width / 2)
        found = kept(own, Scaling.of(before))
        assert (float(found.scale) == float(before.scale)) is fits, width
        assert (float(found.scale) == float(own.scale)) is not fits


def test_a_shifted_range_does_not_fit_and_kept_scales_saturate(tmp_path: Path) -> None:
    before, own = (range_parameters(low, low + 8, "uint8", is_symmetric=False) for low in (-4.0, -3.0))
    assert int(kept(own, Scaling.of(before)).zero_point) == int(own.zero_point) != int(before.zero_point)
    # XNNPACK's kernels add two products of weights in 16 bits: there is no room for -128.
    numbers = numpy.array([-1.02, 1.02, 0.5], numpy.float32)
    scale, zero = numpy.float32(1 / 127), numpy.int8(0)
    rounded = round_in_place(numbers.copy(), numpy.array(scale), numpy.array(zero), "int8", is_symmetric=True)
    assert rounded.tolist() == [-127, 127, 64]
    first = made(tmp_path / "first", net(), static())
    same = made(tmp_path / "same", net(grown=1.015), static(), first / "scales.safetensors")
    integers = numpy_helper.to_array(
        next(each for each in loaded(same).graph.initializer if each.name == "g_quantized")
    )
    assert counts(same)[0] > 64
    assert (integers.min(), integers.max()) == (-127, 127)


def test_other_settings_another_quantizer_and_another_model_are_refused(tmp_path: Path) -> None:
    path = made(tmp_path / "first", net(), static()) / "scales.safetensors"
    with pytest.raises(ConfigError, match="is of per-channel = true, not false"):
        made(tmp_path / "a", net(), static(per_channel=False), path)
    with pytest.raises(ConfigError, match="is of quantizer 'static-qdq', not 'dynamic'"):
        made(tmp_path / "b", net(), Dynamic(), path)
    found = scales.read(path)
    assert "activation:x" in found.scales
    others = (ScaleChoice(kind="weight", name="nobody", count=1), ScaleChoice(kind="activation", name="x", count=1))
    with pytest.raises(ConfigError, match="has no weight of this model"):
        found.kept(others)


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: content[:-4],
        lambda content: content[:6],
        lambda content: b"",
        lambda content: b"\xff" * 8 + content[8:],
        lambda content: content.replace(b"mobpack scales 1", b"mobpack scales 9"),
        lambda content: content[:-8] + b"\x00\x00\xc0\x7f" * 2,
        lambda content: content.replace(b'"F32"', b'"I32"'),
    ],
)
def test_a_damaged_file_is_refused(tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    path = made(tmp_path / "first", net(), Dynamic()) / "scales.safetensors"
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(ConfigError, match="is not a file of scales"):
        scales.read(path)


@pytest.mark.parametrize(
    ("variant", "message", "hint"),
    [
        (STATIC + 'scales-from = "nowhere"', "has no scales of model 'm', variant 'int8'", "scales/m.int8.safetensors"),
        (STATIC + 'scales-from = "m.onnx"', "is not a file of scales", "name a release"),
        (STATIC + 'scales-from = "dist"', "which this build replaces", "copy the release before"),
        ('quantizer = "float16"\nscales-from = "x"', "unknown key 'scales-from'", "static-qdq, auto, dynamic, weight"),
        ('quantizer = "none"\nscales-from = "x"', "unknown key 'scales-from'", "static-qdq, auto, dynamic, weight"),
    ],
)
def test_builds_refuse_scales_that_they_cannot_keep(
    tmp_path: Path, mobpack: Mobpack, variant: str, message: str, hint: str
) -> None:
    file = project(tmp_path, net(), variant)
    answer = mobpack("build", "--config", str(file), "--out", str(tmp_path / "dist"))
    assert answer.code == 2
    assert message in answer.err
    assert hint in answer.err
    assert not (tmp_path / "dist").exists()


def test_float16_refuses_to_write_scales(tmp_path: Path, mobpack: Mobpack) -> None:
    path = onnx_text.saved(tmp_path / "one.onnx", net())
    answer = mobpack("quantize", str(path), "-q", "float16", "--scales", str(tmp_path / "x"))
    assert answer.code == 2
    assert "quantizer 'float16' has no scales" in answer.err
