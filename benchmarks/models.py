"""The models that the measurements run on, made here: `python -m benchmarks.models [FOLDER]`.

The graphs are those that exporters write for MobileNetV2 (arXiv:1801.04381) and BERT-base (arXiv:1810.04805);
the weights are seeded random numbers, the same bytes on every machine.
"""

import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod, sqrt
from pathlib import Path
from typing import Any

import platformdirs

GENERATION = 1
"""Raised when a generator changes, so that a cached file of the old one is not taken for the new."""

OPSET, IR_VERSION = 17, 8
MOBILENET, BERT = "mobilenetv2.onnx", "bert-base.onnx"

# (expansion, channels, repeats, stride): table 2 of the paper.
MOBILENET_STAGES = (
    (1, 16, 1, 1),
    (6, 24, 2, 2),
    (6, 32, 3, 2),
    (6, 64, 4, 2),
    (6, 96, 3, 1),
    (6, 160, 3, 2),
    (6, 320, 1, 1),
)

LAYERS, HIDDEN, HEADS, INNER, VOCABULARY, POSITIONS = 12, 768, 12, 3072, 30522, 512


@dataclass
class Graph:
    """Collects nodes and initializers; a value is known by its name."""

    seed: int
    nodes: list[Any] = field(default_factory=list)
    initializers: list[Any] = field(default_factory=list)

    def add(self, op: str, inputs: Sequence[str], output: str = "", **attributes: Any) -> str:
        from onnx import helper

        output = output or f"/{op}_{len(self.nodes)}_output_0"
        self.nodes.append(helper.make_node(op, inputs, [output], name=f"/{op}_{len(self.nodes)}", **attributes))
        return output

    def weight(self, name: str, shape: Sequence[int], limit: float, *, centre: float = 0.0) -> str:
        """Uniform float32 numbers within `limit` of `centre`; the raw bits of PCG64 are the same in every numpy."""
        import numpy as np

        count = prod(shape)
        bits = np.random.PCG64(self.seed + len(self.initializers)).random_raw((count + 1) // 2).view(np.uint32)[:count]
        values = ((bits >> 8).astype(np.float32) * np.float32(2.0**-23) - np.float32(1)) * np.float32(
            limit
        ) + np.float32(centre)
        return self.constant(name, values.reshape(shape))

    def constant(self, name: str, values: Any) -> str:
        from onnx import numpy_helper

        self.initializers.append(numpy_helper.from_array(values, name))
        return name

    def model(self, name: str, inputs: Sequence[Any], outputs: Sequence[Any]) -> Any:
        from onnx import helper

        graph = helper.make_graph(self.nodes, name, inputs, outputs, self.initializers)
        return helper.make_model(
            graph,
            opset_imports=[helper.make_opsetid("", OPSET)],
            ir_version=IR_VERSION,
            producer_name="mobpack-benchmarks",
        )


def made(folder: Path) -> tuple[Path, Path]:
    """The MobileNetV2 and the BERT-base file in `folder`, written now if they are not there yet."""
    folder = folder / f"models-{GENERATION}"
    folder.mkdir(parents=True, exist_ok=True)
    for name, make in ((MOBILENET, mobilenet), (BERT, bert)):
        if not (folder / name).exists():
            with tempfile.NamedTemporaryFile(dir=folder, delete=False) as file:
                file.write(make().SerializeToString(deterministic=True))
            Path(file.name).replace(folder / name)
    return folder / MOBILENET, folder / BERT


def default_folder() -> Path:
    return Path(platformdirs.user_cache_dir("mobpack")) / "benchmarks"


def mobilenet() -> Any:
    """MobileNetV2 for 1000 classes with BatchNorm folded into Conv: 3.5 M parameters, 14 MB."""
    import numpy as np
    from onnx import TensorProto, helper

    graph = Graph(seed=1_000_000)
    bounds = [graph.constant("clip_min", np.float32(0)), graph.constant("clip_max", np.float32(6))]
    value, channels = _convolution(graph, "features.0", "input", 3, 32, bounds, kernel=3, stride=2), 32
    block = 0
    for expansion, wide, repeats, stride in MOBILENET_STAGES:
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
            )
            channels = wide
    value = _convolution(graph, "features.18", value, channels, 1280, bounds)
    value = graph.add("Flatten", [graph.add("GlobalAveragePool", [value])], axis=1)
    head = [
        graph.weight("classifier.weight", (1000, 1280), sqrt(3 / 1280)),
        graph.weight("classifier.bias", (1000,), 0.01),
    ]
    graph.add("Gemm", [value, *head], "logits", transB=1)
    return graph.model(
        "mobilenetv2",
        [helper.make_tensor_value_info("input", TensorProto.FLOAT, [1, 3, 224, 224])],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, [1, 1000])],
    )


def _inverted_residual(
    graph: Graph, name: str, value: str, channels: int, wide: int, bounds: list[str], *, expansion: int, stride: int
) -> str:
    inner = channels * expansion
    hidden = _convolution(graph, f"{name}.expand", value, channels, inner, bounds) if expansion > 1 else value
    hidden = _convolution(
        graph, f"{name}.depthwise", hidden, inner, inner, bounds, kernel=3, stride=stride, group=inner
    )
    hidden = _convolution(graph, f"{name}.project", hidden, inner, wide, [])
    return graph.add("Add", [value, hidden]) if stride == 1 and channels == wide else hidden


def _convolution(
    graph: Graph,
    name: str,
    value: str,
    channels: int,
    wide: int,
    bounds: list[str],
    *,
    kernel: int = 1,
    stride: int = 1,
    group: int = 1,
) -> str:
    """Conv, and ReLU6 as exporters write it when `bounds` names its two limits."""
    fan_in = channels // group * kernel * kernel
    weights = [
        graph.weight(f"{name}.weight", (wide, channels // group, kernel, kernel), sqrt(6 / fan_in)),
        graph.weight(f"{name}.bias", (wide,), 0.01),
    ]
    pad = kernel // 2
    value = graph.add(
        "Conv",
        [value, *weights],
        kernel_shape=[kernel, kernel],
        strides=[stride, stride],
        pads=[pad] * 4,
        dilations=[1, 1],
        group=group,
    )
    return graph.add("Clip", [value, *bounds]) if bounds else value


def bert() -> Any:
    """BERT-base encoder with pooler, dynamic batch and sequence: 109 M parameters, 438 MB."""
    from onnx import TensorProto, helper

    graph = Graph(seed=2_000_000)
    _constants(graph)
    hidden = _embeddings(graph)
    mask = graph.add("Cast", [graph.add("Unsqueeze", ["attention_mask", "axes_1_2"])], to=TensorProto.FLOAT)
    mask = graph.add("Mul", [graph.add("Sub", ["one", mask]), "lowest"])
    for layer in range(LAYERS):
        name = f"encoder.layer.{layer}"
        attended = _dense(
            graph, f"{name}.attention.output", _attention(graph, f"{name}.attention", hidden, mask), HIDDEN, HIDDEN
        )
        hidden = _layer_norm(graph, f"{name}.attention.norm", graph.add("Add", [attended, hidden]))
        inner = _gelu(graph, _dense(graph, f"{name}.intermediate", hidden, HIDDEN, INNER))
        output = _dense(graph, f"{name}.output", inner, INNER, HIDDEN)
        hidden = _layer_norm(
            graph,
            f"{name}.norm",
            graph.add("Add", [output, hidden]),
            output="last_hidden_state" if layer == LAYERS - 1 else "",
        )
    first = graph.add("Gather", [hidden, "zero"], axis=1)
    pooler = [graph.weight("pooler.weight", (HIDDEN, HIDDEN), 0.035), graph.weight("pooler.bias", (HIDDEN,), 0.01)]
    graph.add("Tanh", [graph.add("Gemm", [first, *pooler], transB=1)], "pooler_output")
    return graph.model(
        "bert-base",
        [
            helper.make_tensor_value_info(each, TensorProto.INT64, ["batch", "sequence"])
            for each in ("input_ids", "attention_mask", "token_type_ids")
        ],
        [
            helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, ["batch", "sequence", HIDDEN]),
            helper.make_tensor_value_info("pooler_output", TensorProto.FLOAT, ["batch", HIDDEN]),
        ],
    )


def _constants(graph: Graph) -> None:
    import numpy as np

    for name, value in (
        ("zero", 0),
        ("zeros", [0]),
        ("first", 1),
        ("ones", [1]),
        ("axes_1_2", [1, 2]),
        ("split", [0, 0, HEADS, HIDDEN // HEADS]),
        ("merged", [0, 0, HIDDEN]),
        ("position_ids", [list(range(POSITIONS))]),
    ):
        graph.constant(name, np.asarray(value, np.int64))
    for name, number in (
        ("one", 1.0),
        ("half", 0.5),
        ("root_two", sqrt(2)),
        ("root_size", sqrt(HIDDEN // HEADS)),
        ("lowest", np.finfo(np.float32).min),
    ):
        graph.constant(name, np.float32(number))


def _embeddings(graph: Graph) -> str:
    length = graph.add(
        "Unsqueeze", [graph.add("Gather", [graph.add("Shape", ["input_ids"]), "first"], axis=0), "zeros"]
    )
    positions = graph.add("Slice", ["position_ids", "zeros", length, "ones", "ones"])
    words = graph.add("Gather", [graph.weight("embeddings.word.weight", (VOCABULARY, HIDDEN), 0.035), "input_ids"])
    types = graph.add("Gather", [graph.weight("embeddings.type.weight", (2, HIDDEN), 0.035), "token_type_ids"])
    places = graph.add("Gather", [graph.weight("embeddings.position.weight", (POSITIONS, HIDDEN), 0.035), positions])
    return _layer_norm(graph, "embeddings.norm", graph.add("Add", [graph.add("Add", [words, types]), places]))


def _attention(graph: Graph, name: str, hidden: str, mask: str) -> str:
    query, key, value = (
        graph.add(
            "Transpose",
            [graph.add("Reshape", [_dense(graph, f"{name}.{part}", hidden, HIDDEN, HIDDEN), "split"])],
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


def _layer_norm(graph: Graph, name: str, value: str, output: str = "") -> str:
    parts = [graph.weight(f"{name}.weight", (HIDDEN,), 0.1, centre=1.0), graph.weight(f"{name}.bias", (HIDDEN,), 0.01)]
    return graph.add("LayerNormalization", [value, *parts], output, axis=-1, epsilon=1e-12)


if __name__ == "__main__":
    for path in made(Path(sys.argv[1]) if len(sys.argv) > 1 else default_folder()):
        print(path)
