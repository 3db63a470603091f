"""Models of old opsets compute the same in newer ones, whatever ONNX's converter makes of them."""

from pathlib import Path

import numpy
import onnx
import pytest

from packager.core.console import Console
from packager.core.values import Model
from packager.files.store import Store
from packager.models.raising import opset_of
from packager.quantization.raising import own
from packager.quantization.raising import raised as raised_for_quantizers
from packager.quantization.variants import build_variant
from packager.quantizers import Auto, Calibration, StaticQdq
from packager.quantizers.dynamic import Dynamic
from packager.workflows import importing, quantize
from tests.cases.onnx_text import loaded, onnx_model, saved, session, weight
from tests.cases.raising import SCAN
from tests.cases.raising_cases import CASES

ENLARGING = """(float[1, 3, 8, 8] x) => (float[1, 4, 16, 16] y) <float[4] s = {1, 1, 2, 2}> {
    c = Conv <pads = [1, 1, 1, 1]> (x, w)
    r = Relu (c)
    u = Resize <mode = "linear"> (r, s)
    y = Conv <pads = [1, 1, 1, 1]> (u, v)
}"""

CHOOSING = "(float[2, 5, 16] x) => (float[2, 5, 16] y) { h = MatMul (x, w) y = Hardmax (h) }"


@pytest.fixture
def enlarging(tmp_path: Path) -> Model:
    weights = {"w": weight(8, 3, 3, 3), "v": weight(4, 8, 3, 3, seed=1)}
    return loaded(tmp_path, onnx_model(ENLARGING, weights=weights, opsets={"": 10}))


@pytest.mark.parametrize("quantizer", ["static-qdq", "auto"])
def test_a_variant_is_near_the_users_graph_and_measured_against_it(
    enlarging: Model, tmp_path: Path, quantizer: str
) -> None:
    samples = numpy.random.default_rng(0).standard_normal((8, 1, 3, 8, 8)).astype(numpy.float32)
    numpy.savez(tmp_path / "samples.npz", x=samples)
    calibration = Calibration(samples=str(tmp_path / "samples.npz"))
    recipe = (
        Auto(calibration=calibration, metric="sqnr", max_drop=60.0)
        if quantizer == "auto"
        else StaticQdq(calibration=calibration)
    )
    store = Store(tmp_path / "store")
    request = quantize.QuantizeRequest(model=enlarging, recipe=recipe, output=tmp_path / "q.onnx", metric="sqnr")
    made, measured = quantize.made_and_measured(request, store, Console(quiet=True))
    assert opset_of(onnx.ModelProto.FromString(made.variant.graph)) == 13
    quantize.write(made.variant, tmp_path / "q.onnx", store)
    user, quantized = session(enlarging.path), session(tmp_path / "q.onnx")
    pairs = [(user.run(None, {"x": each})[0], quantized.run(None, {"x": each})[0]) for each in samples]
    signal, noise = (
        sum((part**2).sum() for part in parts) for parts in zip(*((a, a - b) for a, b in pairs), strict=True)
    )
    assert 10 * numpy.log10(signal / noise) > 30
    assert measured.score
    assert measured.score.value == pytest.approx(10 * numpy.log10(signal / noise), abs=0.5)


def test_what_a_variant_is_measured_against_is_the_users_graph_where_it_was_raised(
    enlarging: Model, tmp_path: Path
) -> None:
    newer = raised_for_quantizers(enlarging, Store(tmp_path / "store"))
    assert newer.graph != enlarging.graph
    assert own(enlarging, newer.graph) == enlarging.graph
    assert own(newer, newer.graph) == newer.graph


def test_dynamic_keeps_the_ones_of_an_old_hardmax(tmp_path: Path) -> None:
    model = loaded(tmp_path, onnx_model(CHOOSING, weights={"w": numpy.eye(16, dtype="f")}, opsets={"": 11}))
    made = build_variant(model, "int8", Dynamic(), Store(tmp_path / "store"), Console(quiet=True)).variant
    quantize.write(made, tmp_path / "q.onnx", Store(tmp_path / "store"))
    x = numpy.random.default_rng(0).standard_normal((2, 5, 16)).astype(numpy.float32)
    x[0, 2, 7] = x[1, 4, 9] = 9
    found, expected = (session(path).run(None, {"x": x})[0] for path in (tmp_path / "q.onnx", model.path))
    assert found.sum() == 2
    assert numpy.array_equal(found, expected)


def test_a_model_that_cannot_be_raised_stays_as_it_is(tmp_path: Path) -> None:
    model = loaded(tmp_path, onnx_model(SCAN, opsets={"": 8}))
    assert raised_for_quantizers(model, Store(tmp_path / "store")) is model


@pytest.mark.parametrize("name", ["Upsample linear@9", "Resize nearest 0.75 2.5@10", "Hardmax 1@11", "ImageScaler@7"])
def test_an_import_raises_what_onnx_converts_wrongly(tmp_path: Path, name: str) -> None:
    saved(tmp_path / "old.onnx", onnx_model(CASES[name], opsets={"": int(name.rpartition("@")[2])}))
    request = importing.ImportRequest(source="old.onnx", folder=tmp_path, output=tmp_path / "new.onnx")
    importing.run(request, Store(tmp_path / "store"), Console(quiet=True))
    assert opset_of(onnx.load(tmp_path / "new.onnx")) == 18
