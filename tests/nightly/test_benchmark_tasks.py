"""Tasks that measure quantized models: their scores, their data, and small models that PyTorch exported."""

import importlib.util
from collections.abc import Mapping
from pathlib import Path

import numpy
import onnx
import pytest
from tokenizers import BertWordPieceTokenizer

from benchmarks.tasks import TASKS, similarity
from benchmarks.tasks.task import Array, Inputs, Predict, predictor
from packager.core.errors import ToolError
from tests.cases.onnx_text import saved
from tests.toolchain.require import fetched, require

EXPORTED = sorted((Path(__file__).parents[1] / "models").glob("*.onnx"))
FLOAT_SCORES = {
    "orientation": 0.908,
    "digits": 0.984,
    "similarity": 0.593,
    "source_code": 0.713,
    "denoise": 7.79,
    "pitch": 0.89,
    "speech": 0.963,
}
"""Of the float32 models, on the machine that benchmarks/results/accuracy.md was made on."""


def recorded(predict: Predict) -> tuple[Predict, set[bytes]]:
    """`predict`, and the inputs that it will be given."""
    seen: set[bytes] = set()

    def recording(inputs: Inputs) -> Mapping[str, Array]:
        seen.add(key(inputs))
        return predict(inputs)

    return recording, seen


def key(inputs: Inputs) -> bytes:
    return b"".join(name.encode() + inputs[name].tobytes() for name in sorted(inputs))


@pytest.mark.parametrize("name", TASKS)
def test_a_float_model_scores_what_the_documentation_says_and_never_sees_a_calibration_sample(name: str) -> None:
    require(importlib.util.find_spec("PIL") is not None, "Pillow is missing: pip install 'mobpack[test]'")
    task = TASKS[name]
    try:
        predict, seen = recorded(predictor(task.model()))
        assert task.accuracy(predict) == pytest.approx(FLOAT_SCORES[name], rel=0.01)
        calibrated = {key(inputs) for inputs in task.calibration()}
    except ToolError as error:
        require(False, error.message)
    assert 16 <= len(calibrated) <= 64
    assert len(seen) >= 30
    assert not seen & calibrated


def test_similarity_from_strings_is_that_of_hugging_faces_tokenizer_and_the_published_model() -> None:
    for pin in ("model-paraphrase", "data-word-pieces"):
        fetched(pin)
    reference = BertWordPieceTokenizer(str(similarity.vocabulary()))
    assert reference.encode("I like strawberries").ids == [101, 1045, 2066, 13137, 20968, 102]
    published, ours = predictor(similarity.core()), predictor(similarity.model())
    for text in ("I like strawberries", "Caf\u00e9 no. 9!", "\U0001f600!", "antidisestablishmentarianism"):
        ids = numpy.array([reference.encode(text).ids])
        vector = published({"input_ids": ids, "attention_mask": numpy.ones_like(ids)})["461"][0]
        found = ours({similarity.text_input(): similarity.code_points(text)})[similarity.vector_output()]
        numpy.testing.assert_allclose(found, vector / numpy.linalg.norm(vector), atol=1e-5)


def test_onnxruntimes_dynamic_quantizer_fails_where_the_exporter_describes_the_weight_of_a_gemm(tmp_path: Path) -> None:
    from onnxruntime.quantization import quantize_dynamic

    convnet = EXPORTED[0]
    with pytest.raises(onnx.shape_inference.InferenceError, match=r"differ in dimension 0: \(16\) vs \(10\)"):
        quantize_dynamic(convnet, tmp_path / "quantized.onnx")
    model = onnx.load(convnet)
    weights = {tensor.name for tensor in model.graph.initializer}
    described = [value for value in model.graph.value_info if value.name not in weights]
    del model.graph.value_info[:]
    model.graph.value_info.extend(described)
    quantize_dynamic(saved(tmp_path / "described.onnx", model), tmp_path / "quantized.onnx")
    assert (tmp_path / "quantized.onnx").is_file()
