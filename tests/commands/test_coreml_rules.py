"""CoreML's rules, compared with the provider's source: the nodes that it takes, and the reasons for the rest."""

from collections import Counter
from pathlib import Path

import pytest

from packager.core.errors import ToolError
from packager.graph.view import Graph
from packager.models.graphs import read_graph
from packager.verification.partition.coreml import predict
from tests.cases.coreml_rules import MLPROGRAM, NEURAL_NETWORK, taken
from tests.toolchain import models
from tests.toolchain.require import require


def unfused(model: Path, folder: Path) -> Graph:
    """The graph of `model` after ONNX Runtime's basic rewrites."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.optimized_model_filepath = str(folder / "unfused.onnx")
    onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    return read_graph((folder / "unfused.onnx").read_bytes())


# Taken, nodes and partitions in MLProgram and NeuralNetwork; a reason, and how many nodes it leaves in MLProgram.
REAL = [
    # One Reshape, whose shape is computed, cuts it in two.
    ("orientation", (102, 104, 2), (102, 104, 2), "Reshape: the new shape must be constant", 1),
    # Its LSTM lies inside an If, of whose output not even the rank is known.
    ("silero_vad", (21, 42, 3), (18, 42, 3), "Unsqueeze: the shape of '/model/decoder/If_1_output_0' is unknown", 2),
    # The shapes of a dynamic batch are computed in int64, which the provider does not join.
    ("minilm", (235, 315, 26), (149, 315, 49), "Concat: the input is int64, not float or float16", 15),
    ("magika", (66, 94, 10), (51, 94, 11), "Expand: operator not supported", 7),
    ("basic_pitch", (132, 246, 31), (63, 246, 15), "Pad: mode 'reflect' requires a static axis 0", 9),
]


@pytest.mark.parametrize(("name", "ml", "nn", "reason", "count"), REAL)
def test_real_models(
    name: str, ml: tuple[int, int, int], nn: tuple[int, int, int], reason: str, count: int, tmp_path: Path
) -> None:
    try:
        path: Path = getattr(models, name)()
    except ToolError as error:
        require(False, error.message)
    graph = unfused(path, tmp_path)
    for model_format, numbers in ((MLPROGRAM, ml), (NEURAL_NETWORK, nn)):
        found = predict(graph, model_format=model_format)
        assert (taken(found), len(graph.nodes), len(found.partitions)) == numbers
        assert taken(found) + len(found.left) == len(graph.nodes)
    assert Counter(predict(graph).left.values())[reason] == count
