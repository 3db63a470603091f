"""Labelled pictures of stripes and colours, and a classifier that is right about them if its input is normalized."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy
import numpy.typing
import onnx
import onnxruntime
from PIL import Image

from tests.cases.onnx_text import onnx_model

Floats = numpy.typing.NDArray[numpy.float32]
Pixels = numpy.typing.NDArray[numpy.uint8]

MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
"""of ImageNet, which many classifiers want"""
CLASSES, SIDE = 10, 32
FEATURES = """(float[1, 3, 32, 32] image) => (float[1, 64] features) {
    a = Conv <strides = [2, 2], pads = [2, 2, 2, 2]> (image, w1, b1)
    b = Relu (a)
    c = Conv <strides = [2, 2], pads = [1, 1, 1, 1]> (b, w2, b2)
    d = Relu (c)
    e = GlobalMaxPool (d)
    features = Flatten (e)
}"""


def picture(label: int, generator: numpy.random.Generator) -> Pixels:
    """Stripes whose direction and colour depend on `label`, in noise."""
    y, x = numpy.mgrid[:SIDE, :SIDE]
    angle = numpy.pi * (label % 5) / 5 + generator.normal(0, 0.08)
    waves = numpy.sin((x * numpy.cos(angle) + y * numpy.sin(angle)) * 0.9 + generator.uniform(0, 6.3))
    colour = numpy.array([1.0, 0.6, 0.35] if label < 5 else [0.35, 0.6, 1.0])
    shown = 118 + 70 * generator.uniform(0.6, 1.2) * waves[:, :, None] * colour
    shown = shown + 25 * (colour - 0.6) + generator.normal(0, 14, (SIDE, SIDE, 3)) + generator.normal(0, 12)
    pixels: Pixels = numpy.clip(shown, 0, 255).astype(numpy.uint8)
    return pixels


@cache
def pictures(count: int, seed: int) -> tuple[tuple[Pixels, int], ...]:
    """Pictures with their labels, every class as often."""
    generator = numpy.random.default_rng(seed)
    return tuple((picture(number % CLASSES, generator), number % CLASSES) for number in range(count))


def folder_of(path: Path, count: int = 40, seed: int = 5) -> Path:
    """A folder of `count` PNG files."""
    path.mkdir(parents=True, exist_ok=True)
    for number, (pixels, _) in enumerate(pictures(count, seed)):
        Image.fromarray(pixels).save(path / f"{number:03}.png")
    return path


def normalized(pixels: Pixels) -> Floats:
    """float32 [1, 3, height, width], as the classifier wants it."""
    scaled = (pixels / 255 - numpy.array(MEAN)) / numpy.array(STD)
    return numpy.ascontiguousarray(scaled.transpose(2, 0, 1)[None], numpy.float32)


def scaled(pixels: Pixels, factor: float = 1 / 255, offset: float = 0.0) -> Floats:
    """float32 [1, 3, height, width]: pixels times `factor`, plus `offset`."""
    return numpy.ascontiguousarray(pixels.transpose(2, 0, 1)[None] * factor + offset, numpy.float32)


def _weights() -> dict[str, numpy.typing.NDArray[numpy.generic]]:
    generator = numpy.random.default_rng(1)
    return {
        "w1": (generator.standard_normal((24, 3, 5, 5)) / 5).astype(numpy.float32),
        "b1": generator.normal(-0.5, 0.5, 24).astype(numpy.float32),
        "w2": (generator.standard_normal((64, 24, 3, 3)) / 9).astype(numpy.float32),
        "b2": generator.normal(-0.5, 0.5, 64).astype(numpy.float32),
    }


@cache
def classifier(prepare: Callable[[Pixels], Floats] = normalized) -> onnx.ModelProto:
    """image float32 [1, 3, 32, 32], as `prepare` makes it -> logits [1, 10]. Its last layer is fitted to 1,000
    pictures."""
    features = onnx_model(FEATURES, weights=_weights())
    session = onnxruntime.InferenceSession(features.SerializeToString())
    seen = pictures(1000, 3)
    rows = numpy.concatenate([session.run(None, {"image": prepare(pixels)})[0] for pixels, _ in seen])
    wanted = numpy.eye(CLASSES)[[label for _, label in seen]]
    mean, spread = rows.mean(0), rows.std(0) + 1e-6
    head, bias = _fitted((rows - mean) / spread, wanted)
    weights = _weights() | {
        "head": (head / spread[:, None]).astype(numpy.float32),
        "bias": (bias - (mean / spread) @ head).astype(numpy.float32),
    }
    text = FEATURES.replace("float[1, 64] features)", "float[1, 10] logits)").replace(
        "}", "logits = Gemm (features, head, bias) }"
    )
    return onnx_model(text, weights=weights)


def _fitted(rows: "numpy.ndarray", wanted: "numpy.ndarray") -> "tuple[numpy.ndarray, numpy.ndarray]":
    """Weights and bias of a logistic regression, by gradient descent."""
    head, bias = numpy.zeros((rows.shape[1], wanted.shape[1])), numpy.zeros(wanted.shape[1])
    for _ in range(400):
        scores = rows @ head + bias
        shares = numpy.exp(scores - scores.max(1, keepdims=True))
        wrong = shares / shares.sum(1, keepdims=True) - wanted
        head -= 0.5 * (rows.T @ wrong / len(rows) + 1e-4 * head)
        bias -= 0.5 * wrong.mean(0)
    return head, bias


def accuracy(
    model: Path | onnx.ModelProto, count: int = 300, seed: int = 9, prepare: Callable[[Pixels], Floats] = normalized
) -> float:
    """Share of right answers on pictures that nothing was fitted to."""
    content = model.read_bytes() if isinstance(model, Path) else model.SerializeToString()
    session = onnxruntime.InferenceSession(content)
    right = [
        session.run(None, {"image": prepare(pixels)})[0].argmax() == label for pixels, label in pictures(count, seed)
    ]
    return float(numpy.mean(right))
