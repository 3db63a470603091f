"""Makes the models of this folder with PyTorch: `python tests/models/export.py`, see README.md."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import onnx
import torch  # type: ignore[import-not-found,unused-ignore]
from torch import Tensor, nn  # type: ignore[import-not-found,unused-ignore]
from torch.nn import functional  # type: ignore[import-not-found,unused-ignore]

FOLDER = Path(__file__).parent
OPSET = 18
WORDS, WIDTH, HEADS = 64, 24, 4


class ConvNet(nn.Module):  # type: ignore[misc,unused-ignore]
    """One inverted residual of MobileNetV2 between a first convolution and a classifier."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 16, 3, 2, 1, bias=False), nn.BatchNorm2d(16), nn.ReLU6())
        self.expand = nn.Sequential(nn.Conv2d(16, 32, 1, bias=False), nn.BatchNorm2d(32), nn.ReLU6())
        self.depthwise = nn.Sequential(
            nn.Conv2d(32, 32, 3, 1, 1, groups=32, bias=False), nn.BatchNorm2d(32), nn.ReLU6()
        )
        self.project = nn.Sequential(nn.Conv2d(32, 16, 1, bias=False), nn.BatchNorm2d(16))
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.classify = nn.Linear(16, 10)

    def forward(self, image: Tensor) -> Any:
        narrow = self.stem(image)
        narrow = narrow + self.project(self.depthwise(self.expand(narrow)))
        return self.classify(self.pool(narrow).flatten(1))


class Block(nn.Module):  # type: ignore[misc,unused-ignore]
    """Attention and a feed-forward net, each behind a norm and beside a shortcut."""

    def __init__(self) -> None:
        super().__init__()
        self.norms = nn.ModuleList([nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)])
        self.queries, self.keys = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH)
        self.values, self.merge = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH)
        self.feed_forward = nn.Sequential(nn.Linear(WIDTH, 2 * WIDTH), nn.GELU(), nn.Linear(2 * WIDTH, WIDTH))

    def forward(self, tokens: Tensor) -> Any:
        tokens = tokens + self.attend(self.norms[0](tokens))
        return tokens + self.feed_forward(self.norms[1](tokens))

    def attend(self, tokens: Tensor) -> Any:
        batch, length, _ = tokens.shape
        queries, keys, values = (
            layer(tokens).view(batch, length, HEADS, WIDTH // HEADS).transpose(1, 2)
            for layer in (self.queries, self.keys, self.values)
        )
        weights = functional.softmax(queries @ keys.transpose(-1, -2) / (WIDTH // HEADS) ** 0.5, dim=-1)
        return self.merge((weights @ values).transpose(1, 2).reshape(batch, length, WIDTH))


class Transformer(nn.Module):  # type: ignore[misc,unused-ignore]
    """The same block twice; one embedding table serves input and output."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        self.block = Block()
        self.norm = nn.LayerNorm(WIDTH)

    def forward(self, words: Tensor) -> Any:
        tokens = self.block(self.block(self.words(words)))
        return functional.linear(self.norm(tokens), self.words.weight)


class Recurrent(nn.Module):  # type: ignore[misc,unused-ignore]
    """An LSTM whose last step is classified."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(8, 16, batch_first=True)
        self.classify = nn.Linear(16, 5)

    def forward(self, features: Tensor) -> Any:
        return self.classify(self.lstm(features)[0][:, -1])


def main() -> None:
    image = torch.zeros(2, 3, 32, 32)
    words = torch.zeros(2, 12, dtype=torch.int64)
    features = torch.zeros(2, 10, 8)
    export(ConvNet(), "torch_convnet", "image", image, dynamic=["batch"])
    export(Transformer(), "torch_transformer", "words", words, dynamic=["batch", "length"])
    export(Recurrent(), "torch_lstm", "features", features, dynamic=["batch"])


def export(module: nn.Module, name: str, input_name: str, sample: Tensor, *, dynamic: Sequence[str]) -> None:
    """Writes `module` with seeded weights to NAME.onnx; its first axes get the names in `dynamic`."""
    seed(module)
    exported = torch.onnx.export(
        module.eval(),
        (sample,),
        input_names=[input_name],
        output_names=["scores"],
        dynamic_shapes=[{axis: torch.export.Dim(size) for axis, size in enumerate(dynamic)}],
        opset_version=OPSET,
        dynamo=True,
        external_data=False,
    )
    model = exported.model_proto
    forget_source(model)
    onnx.checker.check_model(model, full_check=True)
    (FOLDER / f"{name}.onnx").write_bytes(model.SerializeToString(deterministic=True))


def seed(module: nn.Module) -> None:
    """Gives every weight and every statistic of a norm numbers that are the same each time."""
    numbers = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for key, weight in module.state_dict().items():
            if weight.is_floating_point():
                random = torch.randn(weight.shape, generator=numbers) / max(1, weight[0].numel()) ** 0.5
                weight.copy_(random.abs() + 0.5 if "var" in key or "norm" in key else random)


def forget_source(model: onnx.ModelProto) -> None:
    """Remove the stack traces that the exporter leaves: they hold paths of its machine."""
    model.doc_string = ""
    for part in (model, model.graph, *_parts(model.graph), *model.functions):
        part.ClearField("metadata_props")
        part.ClearField("doc_string")
    for function in model.functions:
        for node in function.node:
            node.ClearField("metadata_props")
            node.ClearField("doc_string")


def _parts(graph: onnx.GraphProto) -> Iterator[Any]:
    """Everything in a graph and in the graphs inside it."""
    yield from (*graph.node, *graph.input, *graph.output, *graph.value_info, *graph.initializer)
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield attribute.g
                yield from _parts(attribute.g)


if __name__ == "__main__":
    main()
