"""The NNAPI rules, compared with ONNX Runtime's own NNAPI provider in its Android library.

tests/unit/test_nnapi_rules.py holds the rules to every case; at night the provider itself does.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy
import numpy.typing
import onnx
import onnxruntime
import pytest
from onnxruntime import quantization

from packager.compile.reader import read_graph as read_ort_graph
from packager.core.errors import ModelError
from packager.engines.environments.android import Android, ProbeJob
from packager.graph.view import Graph
from packager.models.graphs import read_graph
from packager.models.shapes import fix_shapes
from packager.verification.partition.nnapi import predict
from packager.verification.partition.rules import Prediction
from tests.cases.nnapi_cases import FATAL, PARTITIONS, Case
from tests.cases.nnapi_rules import CASES, QUANTIZERS, prediction
from tests.cases.onnx_text import saved
from tests.nights import at_night, spread
from tests.toolchain import models
from tests.toolchain.environments import have

LEVELS = (27, *at_night(28, 29), 31)


@dataclass(frozen=True, kw_only=True)
class Taken:
    """The part of a model that the provider itself took."""

    partitions: tuple[frozenset[str], ...]
    left: frozenset[str]

    @property
    def nodes(self) -> frozenset[str]:
        return frozenset().union(*self.partitions)


def ask(path: Path, level: int, *, use_nchw: bool = False) -> Taken:
    """Load the model with NNAPI as a device of feature level `level` does, without rewriting it first."""
    android = Android(sdk=34 if level == 31 else level, nnapi_feature_level=level)
    options = {"USE_NCHW": "1"} if use_nchw else {}
    answer = android.probe(path, ProbeJob(provider="nnapi", options=options, level="disabled"))
    found: dict[bool, list[frozenset[str]]] = {True: [], False: []}
    for subgraph in answer["subgraphs"]:
        names = frozenset(re.sub(r"_token_\d+$", "", node["name"]) for node in subgraph["nodes"])
        found[subgraph["provider"] == "NnapiExecutionProvider"].append(names)
    return Taken(partitions=tuple(found[True]), left=frozenset().union(*found[False]))


def disagreements(graph: Graph, predicted: Prediction, taken: Taken) -> list[str]:
    """Nodes that one side takes and the other leaves; nodes that ONNX Runtime has removed count
    as agreed."""
    there = taken.nodes | taken.left
    return [
        f"{node.name}: {predicted.left.get(node.name, 'is taken')}"
        for node in graph.nodes
        if node.name in there and (node.name in taken.nodes) == (node.name in predicted.left)
    ]


@pytest.fixture(scope="session")
def android() -> None:
    have("android")


@pytest.mark.parametrize("each", spread([*CASES, *PARTITIONS], 8))
def test_small_models_are_cut_as_onnx_runtime_cuts_them(each: Case, android: None, tmp_path: Path) -> None:
    graph, predicted = read_graph(each.model().SerializeToString()), prediction(each)
    taken = ask(saved(tmp_path / "m.onnx", each.model()), each.level)
    assert disagreements(graph, predicted, taken) == []
    assert len(predicted.partitions) == len(taken.partitions)


@pytest.mark.parametrize("each", spread(FATAL, 3), ids=lambda each: each.why.split(":")[0])
def test_the_model_really_does_not_load_then(each: Case, android: None, tmp_path: Path) -> None:
    path = saved(tmp_path / "m.onnx", each.model())
    assert Android().probe(path, ProbeJob(level="disabled"))["subgraphs"]
    with pytest.raises(ModelError, match="nnapi"):
        ask(path, each.level, use_nchw=each.use_nchw)


# --- whole models ---


@dataclass
class Images(quantization.CalibrationDataReader):  # type: ignore[misc]
    """Two images of noise: enough for ranges, and which nodes are taken does not depend on them."""

    left: Iterator[int]

    def get_next(self) -> dict[str, numpy.typing.NDArray[numpy.float32]] | None:
        seed = next(self.left, None)
        if seed is None:
            return None
        return {"x": numpy.random.default_rng(seed).standard_normal((1, 3, 224, 224)).astype(numpy.float32)}


def with_shapes(path: Path, shapes: dict[str, int | tuple[int, ...]]) -> onnx.ModelProto:
    model = onnx.load(path)
    fix_shapes(model, shapes, "here")
    del model.graph.value_info[:]
    return model


def orientation(_: Path) -> onnx.ModelProto:
    return with_shapes(models.orientation(), {"x": (1, 3, 224, 224)})


def quantized_orientation(folder: Path, activations: str, weights: str) -> onnx.ModelProto:
    """In QDQ form; int8 weights have a scale for each channel."""
    kinds = {"u8": quantization.QuantType.QUInt8, "s8": quantization.QuantType.QInt8}
    quantization.quantize_static(
        orientation(folder),
        folder / "quantized.onnx",
        Images(iter(range(2))),
        activation_type=kinds[activations],
        weight_type=kinds[weights],
        per_channel=weights == "s8",
    )
    return onnx.load(folder / "quantized.onnx")


MODELS: dict[str, Callable[[Path], onnx.ModelProto]] = {
    "orientation-u8s8": lambda folder: quantized_orientation(folder, "u8", "s8"),
    "orientation-u8u8": lambda folder: quantized_orientation(folder, "u8", "u8"),
    "orientation-s8s8": lambda folder: quantized_orientation(folder, "s8", "s8"),
    "orientation": orientation,
    "minilm": lambda _: with_shapes(models.minilm(), {"batch": 1, "sequence": 64}),
    "magika": lambda _: with_shapes(models.magika(), {"bytes": (1, 2048)}),
    "basic_pitch": lambda _: with_shapes(models.basic_pitch(), {"unk__749": 1}),
    "silero_vad": lambda _: with_shapes(models.silero_vad(), {"batch": 1}),
}


def save_rewritten(source: onnx.ModelProto, path: Path, level: onnxruntime.GraphOptimizationLevel) -> Path:
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = level
    options.optimized_model_filepath = str(path)
    options.add_session_config_entry("session.save_model_format", path.suffix[1:].upper())
    options.add_session_config_entry("session.qdqisint8allowed", "1")
    onnxruntime.InferenceSession(source.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return path


@pytest.fixture(scope="module", params=spread([*MODELS], 4))
def real(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Graph]:
    """A model after the basic rewrites, as ONNX for the provider and as a graph read from ORT format for the rules.

    ONNX Runtime does not say who took what of a file in ORT format, so each gets the format it can answer for.
    """
    folder = tmp_path_factory.mktemp("real")
    basic = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    rewritten = onnx.load(save_rewritten(MODELS[request.param](folder), folder / "basic.onnx", basic))
    for index, node in enumerate(rewritten.graph.node):
        node.name = f"{node.op_type}.{index}"
    untouched = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    graph = read_ort_graph(save_rewritten(rewritten, folder / "m.ort", untouched))
    return saved(folder / "m.onnx", rewritten), graph


@pytest.mark.parametrize("level", LEVELS)
def test_every_node_of_real_models_is_foreseen(real: tuple[Path, Graph], level: int, android: None) -> None:
    """With USE_NCHW, which leaves the graph unchanged, so that every node can be found again."""
    path, graph = real
    predicted, taken = predict(graph, feature_level=level, use_nchw=True), ask(path, level, use_nchw=True)
    assert disagreements(graph, predicted, taken) == []
    assert taken.nodes | taken.left >= {node.name for node in graph.nodes}  # and what is in subgraphs
    assert Counter(map(frozenset, predicted.partitions)) == Counter(taken.partitions)


KNOWN = {("basic_pitch", 27): 1, ("minilm", 27): 6}
"""Model and feature level -> partitions that the rewriting for NHWC saves: without it they could run as one."""


@pytest.mark.parametrize("level", LEVELS)
def test_partitions_of_real_models_are_foreseen(
    real: tuple[Path, Graph], level: int, request: pytest.FixtureRequest, android: None
) -> None:
    """Without USE_NCHW, as an app would run them.

    ONNX Runtime then rewrites to NHWC what NNAPI is to take, adds and removes Transposes and names
    DequantizeLinear nodes around them anew: those cannot be held against their names.
    """
    path, graph = real
    predicted, taken = predict(graph, feature_level=level), ask(path, level)
    wrong = disagreements(graph, predicted, taken)
    assert [each for each in wrong if not each.startswith(QUANTIZERS)] == []
    saved_by_rewriting = KNOWN.get((request.node.callspec.params["real"], level), 0)
    assert len(predicted.partitions) == len(taken.partitions) + saved_by_rewriting
