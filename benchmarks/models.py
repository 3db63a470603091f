"""The models that the measurements run on, made here: `python -m benchmarks.models [FOLDER [NAME...]]`.

The graphs are those that exporters write for MobileNetV2 (arXiv:1801.04381), EfficientNet-lite0 (arXiv:1905.11946
without squeeze and excitation), ResNet-50 v1.5 (arXiv:1512.03385, with the stride in the 3x3 convolution), U2NetP
(arXiv:2005.09007), BERT-base (arXiv:1810.04805) and the 6-layer MiniLM (arXiv:2002.10957); the weights are seeded
random numbers, the same bytes on every machine.
"""

import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from typing import Any

import platformdirs

from benchmarks.graph import Graph, convolution
from benchmarks.unet import u2netp

GENERATION = 1
"""Raise it when a generator changes: cached files of the old one are then not used."""

MOBILENET, BERT = "mobilenetv2.onnx", "bert-base.onnx"
MINILM, EFFICIENTNET = "minilm-l6.onnx", "efficientnet-lite0.onnx"
RESNET, LARGE, TINY = "resnet50.onnx", "encoder-1.5gb.onnx", "tiny.onnx"
U2NETP = "u2netp.onnx"

Stage = tuple[int, int, int, int, int]
"""expansion, channels, repeats, stride, kernel"""

# Table 2 of the paper.
MOBILENET_STAGES: tuple[Stage, ...] = (
    (1, 16, 1, 1, 3),
    (6, 24, 2, 2, 3),
    (6, 32, 3, 2, 3),
    (6, 64, 4, 2, 3),
    (6, 96, 3, 1, 3),
    (6, 160, 3, 2, 3),
    (6, 320, 1, 1, 3),
)
# Table 1 of the paper.
EFFICIENTNET_STAGES: tuple[Stage, ...] = (
    (1, 16, 1, 1, 3),
    (6, 24, 2, 2, 3),
    (6, 40, 2, 2, 5),
    (6, 80, 3, 2, 3),
    (6, 112, 3, 1, 5),
    (6, 192, 4, 2, 5),
    (6, 320, 1, 1, 3),
)

# Table 1 of the paper: channels inside the blocks, and how many blocks.
RESNET_STAGES = ((64, 3), (128, 4), (256, 6), (512, 3))
WIDENING = 4
"""Channels at the end of a ResNet-50 block, as a multiple of those inside."""

VOCABULARY, POSITIONS = 30522, 512


@dataclass(frozen=True, kw_only=True)
class Encoder:
    """How large a BERT is."""

    name: str
    seed: int
    layers: int
    hidden: int
    heads: int
    inner: int


BERT_BASE = Encoder(name="bert-base", seed=2_000_000, layers=12, hidden=768, heads=12, inner=3072)
MINILM_L6 = Encoder(name="minilm-l6", seed=3_000_000, layers=6, hidden=384, heads=12, inner=1536)
LARGE_ENCODER = Encoder(name="encoder-1.5gb", seed=5_000_000, layers=28, hidden=1024, heads=16, inner=4096)


def made(folder: Path, names: Sequence[str] = (MOBILENET, BERT)) -> tuple[Path, ...]:
    """The files `names` in `folder`, written now if they are missing."""
    folder = folder / f"models-{GENERATION}"
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        if not (folder / name).exists():
            with tempfile.NamedTemporaryFile(dir=folder, delete=False) as file:
                file.write(MAKERS[name]().SerializeToString(deterministic=True))
            Path(file.name).replace(folder / name)
    return tuple(folder / name for name in names)


def made_apart(folder: Path, name: str) -> Path:
    """The file `name` in `folder`, written now, with its weights in one file beside it."""
    import onnx

    path = folder / name
    onnx.save(MAKERS[name](), path, save_as_external_data=True, location=f"{name}.data", convert_attribute=False)
    return path


def default_folder() -> Path:
    return Path(platformdirs.user_cache_dir("mobpack")) / "benchmarks"


def mobilenet() -> Any:
    """MobileNetV2 for 1000 classes with BatchNorm folded into Conv: 3.5 M parameters, 14 MB."""
    return _classifier("mobilenetv2", 1_000_000, MOBILENET_STAGES)


def efficientnet() -> Any:
    """EfficientNet-lite0 for 1000 classes with BatchNorm folded into Conv: 4.6 M parameters, 19 MB."""
    return _classifier("efficientnet-lite0", 4_000_000, EFFICIENTNET_STAGES)


def _classifier(name: str, seed: int, stages: Sequence[Stage]) -> Any:
    """Inverted residual blocks with ReLU6 between a first convolution and a fully connected layer."""
    import numpy as np

    graph = Graph(seed=seed)
    bounds = [graph.constant("clip_min", np.float32(0)), graph.constant("clip_max", np.float32(6))]
    value, channels = convolution(graph, "features.0", "input", 3, 32, bounds, kernel=3, stride=2), 32
    block = 0
    for expansion, wide, repeats, stride, kernel in stages:
        for repeat in range(repeats):
            block += 1
            value = _inverted_residual(
                graph,
                f"features.{block}",
                value,
                channels,
                wide,
                bounds,
                expansion=expansion,
                stride=stride if repeat == 0 else 1,
                kernel=kernel,
            )
            channels = wide
    value = convolution(graph, f"features.{block + 1}", value, channels, 1280, bounds)
    return _head(graph, name, "classifier", value, 1280, [1, 3, 224, 224])


def _head(
    graph: Graph, name: str, layer: str, value: str, channels: int, shape: list[int], *, classes: int = 1000
) -> Any:
    """End the model `name`, whose input has `shape`, with a mean over the picture and a fully connected layer."""
    from onnx import TensorProto, helper

    value = graph.add("Flatten", [graph.add("GlobalAveragePool", [value])], axis=1)
    head = [
        graph.weight(f"{layer}.weight", (classes, channels), sqrt(3 / channels)),
        graph.weight(f"{layer}.bias", (classes,), 0.01),
    ]
    graph.add("Gemm", [value, *head], "logits", transB=1)
    return graph.model(
        name,
        [helper.make_tensor_value_info("input", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, [1, classes])],
    )


def _inverted_residual(
    graph: Graph,
    name: str,
    value: str,
    channels: int,
    wide: int,
    bounds: list[str],
    *,
    expansion: int,
    stride: int,
    kernel: int,
) -> str:
    inner = channels * expansion
    hidden = convolution(graph, f"{name}.expand", value, channels, inner, bounds) if expansion > 1 else value
    hidden = convolution(
        graph, f"{name}.depthwise", hidden, inner, inner, bounds, kernel=kernel, stride=stride, group=inner
    )
    hidden = convolution(graph, f"{name}.project", hidden, inner, wide, [])
    return graph.add("Add", [value, hidden]) if stride == 1 and channels == wide else hidden


def resnet50() -> Any:
    """ResNet-50 v1.5 for 1000 classes with BatchNorm folded into Conv: 25.6 M parameters, 102 MB."""
    graph = Graph(seed=6_000_000)
    value = graph.add("Relu", [convolution(graph, "conv1", "input", 3, 64, [], kernel=7, stride=2)])
    value = graph.add("MaxPool", [value], kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4, ceil_mode=0)
    channels = 64
    for stage, (inner, blocks) in enumerate(RESNET_STAGES):
        for block in range(blocks):
            name, stride = f"layer{stage + 1}.{block}", 2 if stage and not block else 1
            value = _bottleneck(graph, name, value, channels, inner, stride)
            channels = inner * WIDENING
    return _head(graph, "resnet50", "fc", value, channels, [1, 3, 224, 224])


def _bottleneck(graph: Graph, name: str, value: str, channels: int, inner: int, stride: int) -> str:
    wide = inner * WIDENING
    hidden = graph.add("Relu", [convolution(graph, f"{name}.conv1", value, channels, inner, [])])
    hidden = convolution(graph, f"{name}.conv2", hidden, inner, inner, [], kernel=3, stride=stride)
    hidden = convolution(graph, f"{name}.conv3", graph.add("Relu", [hidden]), inner, wide, [])
    if channels != wide:
        value = convolution(graph, f"{name}.downsample.0", value, channels, wide, [], stride=stride)
    return graph.add("Relu", [graph.add("Add", [hidden, value])])


def tiny() -> Any:
    """One convolution and two matrices, a few kB: the fixed cost of a step."""
    graph = Graph(seed=7_000_000)
    value = graph.add("Relu", [convolution(graph, "conv", "input", 3, 32, [], kernel=3)])
    value = graph.add("MatMul", [value, graph.weight("mix.weight", (16, 16), 0.6)])
    return _head(graph, "tiny", "fc", value, 32, [1, 3, 16, 16], classes=4)


def bert(size: Encoder = BERT_BASE) -> Any:
    """BERT encoder with pooler, dynamic batch and sequence; BERT-base has 109 M parameters, 438 MB."""
    from onnx import TensorProto, helper

    graph, hidden_size = Graph(seed=size.seed), size.hidden
    _constants(graph, size)
    hidden = _embeddings(graph, hidden_size)
    mask = graph.add("Cast", [graph.add("Unsqueeze", ["attention_mask", "axes_1_2"])], to=TensorProto.FLOAT)
    mask = graph.add("Mul", [graph.add("Sub", ["one", mask]), "lowest"])
    for layer in range(size.layers):
        name = f"encoder.layer.{layer}"
        attended = _attention(graph, f"{name}.attention", hidden, mask, hidden_size)
        attended = _dense(graph, f"{name}.attention.output", attended, hidden_size, hidden_size)
        hidden = _layer_norm(graph, f"{name}.attention.norm", graph.add("Add", [attended, hidden]), hidden_size)
        inner = _gelu(graph, _dense(graph, f"{name}.intermediate", hidden, hidden_size, size.inner))
        output = _dense(graph, f"{name}.output", inner, size.inner, hidden_size)
        last = "last_hidden_state" if layer == size.layers - 1 else ""
        hidden = _layer_norm(graph, f"{name}.norm", graph.add("Add", [output, hidden]), hidden_size, output=last)
    first = graph.add("Gather", [hidden, "zero"], axis=1)
    pooler = [
        graph.weight("pooler.weight", (hidden_size, hidden_size), 0.035),
        graph.weight("pooler.bias", (hidden_size,), 0.01),
    ]
    graph.add("Tanh", [graph.add("Gemm", [first, *pooler], transB=1)], "pooler_output")
    return graph.model(
        size.name,
        [
            helper.make_tensor_value_info(each, TensorProto.INT64, ["batch", "sequence"])
            for each in ("input_ids", "attention_mask", "token_type_ids")
        ],
        [
            helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, ["batch", "sequence", hidden_size]),
            helper.make_tensor_value_info("pooler_output", TensorProto.FLOAT, ["batch", hidden_size]),
        ],
    )


def minilm() -> Any:
    """The same at the size of MiniLM with 6 layers: 23 M parameters, 91 MB."""
    return bert(MINILM_L6)


def encoder() -> Any:
    """The same in 1.5 GB: 385 M parameters, a model that is large beside the machine's memory."""
    return bert(LARGE_ENCODER)


def _constants(graph: Graph, size: Encoder) -> None:
    import numpy as np

    for name, value in (
        ("zero", 0),
        ("zeros", [0]),
        ("first", 1),
        ("ones", [1]),
        ("axes_1_2", [1, 2]),
        ("split", [0, 0, size.heads, size.hidden // size.heads]),
        ("merged", [0, 0, size.hidden]),
        ("position_ids", [list(range(POSITIONS))]),
    ):
        graph.constant(name, np.asarray(value, np.int64))
    for name, number in (
        ("one", 1.0),
        ("half", 0.5),
        ("root_two", sqrt(2)),
        ("root_size", sqrt(size.hidden // size.heads)),
        ("lowest", np.finfo(np.float32).min),
    ):
        graph.constant(name, np.float32(number))


def _embeddings(graph: Graph, width: int) -> str:
    length = graph.add(
        "Unsqueeze", [graph.add("Gather", [graph.add("Shape", ["input_ids"]), "first"], axis=0), "zeros"]
    )
    positions = graph.add("Slice", ["position_ids", "zeros", length, "ones", "ones"])
    words = graph.add("Gather", [graph.weight("embeddings.word.weight", (VOCABULARY, width), 0.035), "input_ids"])
    types = graph.add("Gather", [graph.weight("embeddings.type.weight", (2, width), 0.035), "token_type_ids"])
    places = graph.add("Gather", [graph.weight("embeddings.position.weight", (POSITIONS, width), 0.035), positions])
    return _layer_norm(graph, "embeddings.norm", graph.add("Add", [graph.add("Add", [words, types]), places]), width)


def _attention(graph: Graph, name: str, hidden: str, mask: str, width: int) -> str:
    query, key, value = (
        graph.add(
            "Transpose",
            [graph.add("Reshape", [_dense(graph, f"{name}.{part}", hidden, width, width), "split"])],
            perm=order,
        )
        for part, order in (("query", [0, 2, 1, 3]), ("key", [0, 2, 3, 1]), ("value", [0, 2, 1, 3]))
    )
    scores = graph.add("Add", [graph.add("Div", [graph.add("MatMul", [query, key]), "root_size"]), mask])
    context = graph.add("MatMul", [graph.add("Softmax", [scores], axis=-1), value])
    return graph.add("Reshape", [graph.add("Transpose", [context], perm=[0, 2, 1, 3]), "merged"])


def _dense(graph: Graph, name: str, value: str, width: int, wide: int) -> str:
    product = graph.add("MatMul", [value, graph.weight(f"{name}.weight", (width, wide), 0.035)])
    return graph.add("Add", [graph.weight(f"{name}.bias", (wide,), 0.01), product])


def _gelu(graph: Graph, value: str) -> str:
    """x / 2 * (1 + erf(x / sqrt 2)), node by node as torch exports it."""
    raised = graph.add("Add", [graph.add("Erf", [graph.add("Div", [value, "root_two"])]), "one"])
    return graph.add("Mul", [graph.add("Mul", [value, raised]), "half"])


def _layer_norm(graph: Graph, name: str, value: str, width: int, output: str = "") -> str:
    parts = [graph.weight(f"{name}.weight", (width,), 0.1, centre=1.0), graph.weight(f"{name}.bias", (width,), 0.01)]
    return graph.add("LayerNormalization", [value, *parts], output, axis=-1, epsilon=1e-12)


MAKERS: Mapping[str, Callable[[], Any]] = {
    MOBILENET: mobilenet,
    BERT: bert,
    MINILM: minilm,
    EFFICIENTNET: efficientnet,
    RESNET: resnet50,
    LARGE: encoder,
    TINY: tiny,
    U2NETP: u2netp,
}


if __name__ == "__main__":
    chosen = Path(sys.argv[1]) if len(sys.argv) > 1 else default_folder()
    for path in made(chosen, sys.argv[2:] or (MOBILENET, BERT)):
        print(path)
