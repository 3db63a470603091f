"""PyTorch's exports, quantized in every way."""

from pathlib import Path
from typing import Any

import onnx
import pytest

from packager import models
from packager.files.store import Store
from packager.graph.weights.whole import write_whole
from packager.quantization.prepare import prepared
from packager.quantizers import Quantizer
from packager.quantizers.dynamic import Dynamic
from packager.quantizers.float16 import Float16
from packager.quantizers.weight_only import WeightOnly
from tests.cases.rewriting_cases import outcome, samples_for, static

MODELS = sorted((Path(__file__).parents[1] / "models").glob("torch_*.onnx"))
QUANTIZERS: dict[str, tuple[Quantizer, float]] = {
    "static": (static(), 30),
    "all": (static(scope="all"), 25),
    "unsigned": (static(activations="uint8", weights="uint8", per_channel=False), 25),
    "16 bits": (static(activations="uint16"), 35),
    "dynamic": (Dynamic(), 30),
    "4 bits": (WeightOnly(), 12),
    "8 bits": (WeightOnly(bits=8), 35),
    "float16": (Float16(), 55),
}


@pytest.fixture(scope="module", params=MODELS, ids=lambda path: path.stem)
def graphs(request: Any, tmp_path_factory: pytest.TempPathFactory) -> tuple[onnx.ModelProto, onnx.ModelProto]:
    """As exported, and as the input of static quantization; both with their weights inside."""
    folder = tmp_path_factory.mktemp("torch")
    model = models.hashed(models.load(request.param, "m"))
    found = []
    for content in (model.graph, prepared(model, Store(folder / "store"))):
        with (folder / "whole.onnx").open("wb") as file:
            write_whole(onnx.load_from_string(content), model.data_folder, file)
        found.append(onnx.load(folder / "whole.onnx"))
    return found[0], found[1]


@pytest.mark.parametrize("name", QUANTIZERS)
def test_it_computes_nearly_the_same(name: str, graphs: tuple[onnx.ModelProto, onnx.ModelProto]) -> None:
    quantizer, least = QUANTIZERS[name]
    model = graphs["static" in quantizer.NAME]
    samples = samples_for(model, count=4)
    made = outcome(model, quantizer, samples)
    for inputs in samples:
        assert made.decibels(inputs) > least
        assert made.decibels(inputs, is_optimized=False) > least
