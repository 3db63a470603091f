"""Measurements of layers and latency: made once, and shared by the report and a build's gate."""

from dataclasses import replace
from pathlib import Path

import numpy
import pytest

from packager import models
from packager.core.console import Console
from packager.core.errors import GateError
from packager.core.values import Model
from packager.files.store import Store
from packager.quantization.variants import build_variant
from packager.quantization.worth import require_gain
from packager.quantizers import Calibration, NoQuantizer, StaticQdq
from packager.reporting import measured
from tests.cases.onnx_text import onnx_model, saved, weight

NET = """(float[1, 64] x) => (float[1, 8] y) {
    h = Gemm (x, w)
    r = Relu (h)
    y = Gemm (r, v)
}"""


class Steps(Console):
    """Logs the steps."""

    def __init__(self) -> None:
        super().__init__(quiet=True)
        self.titles: list[str] = []

    def step(self, title: str, *, kind: str = ""):  # type: ignore[no-untyped-def]
        self.titles.append(title)
        return super().step(title, kind=kind)


@pytest.fixture
def model(tmp_path: Path) -> Model:
    path = saved(tmp_path / "net.onnx", onnx_model(NET, weights={"w": weight(64, 64), "v": weight(64, 8, seed=1)}))
    numpy.savez(tmp_path / "samples.npz", x=numpy.random.default_rng(0).standard_normal((9, 1, 64)).astype("f"))
    return models.hashed(models.load(path, "net"))


def test_a_quantized_variant_is_measured_once(model: Model, tmp_path: Path) -> None:
    store, console = Store(tmp_path / "store"), Steps()
    recipe = StaticQdq(calibration=Calibration(samples=str(tmp_path / "samples.npz")))
    made = build_variant(model, "int8", recipe, store, console)
    require_gain(made)
    assert not [title for title in console.titles if title.startswith("measure latency")], "size alone decides"
    found = measured([made], store, console)
    (layers,) = found.layers.values()
    assert list(found.layers) == [("net", "int8")]
    assert [layer.operator for layer in layers] == ["Gemm", "Gemm"]
    assert all(10 < layer.output_sqnr_db < 80 for layer in layers)
    (row,) = found.latencies
    assert (row.model, row.variant) == ("net", "int8")
    assert row.latency.float_ms > 0
    assert row.latency.quantized_ms > 0
    assert measured([made], store, console) == found  # times differ from run to run
    assert len([title for title in console.titles if title.startswith("measure latency")]) == 1


def test_a_build_judges_variants_by_size_and_compares_no_model_with_itself(model: Model, tmp_path: Path) -> None:
    # Any values that a machine measures.
    recipe = StaticQdq(calibration=Calibration(samples=str(tmp_path / "samples.npz")))
    made = build_variant(model, "int8", recipe, Store(tmp_path / "store"), Steps())
    smaller = replace(model, size_bytes=1)
    with pytest.raises(GateError, match=r"is not smaller than the model: .* times the size"):
        require_gain(replace(made, variant=replace(made.variant, model=smaller)))
    store, console = Store(tmp_path / "store"), Console(quiet=True)
    made = build_variant(model, "source", NoQuantizer(), store, console)
    found = measured([made], store, console)
    assert (dict(found.layers), found.latencies) == ({}, ())
