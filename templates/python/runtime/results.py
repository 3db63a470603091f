"""Results of models in an app's terms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy
from numpy.typing import NDArray

from .sounds import Sound

Floats = NDArray[numpy.float32]
Integers = NDArray[numpy.int64]


@dataclass(frozen=True)
class Classification:
    """A class with its score."""

    label: str
    """empty without labels"""
    index: int
    score: float


@dataclass(frozen=True)
class Box:
    """A rectangle, in pixels of the upright picture."""

    left: float
    top: float
    right: float
    bottom: float


@dataclass(frozen=True)
class Detection:
    """An object in a picture."""

    label: str
    index: int
    score: float
    box: Box


@dataclass(frozen=True)
class InstanceMask:
    """The pixels of an object, among those of its box: a part of the upright picture."""

    left: int
    """first column of the picture"""
    top: int
    """first row of the picture"""
    places: NDArray[numpy.uint8]
    """[height, width]: 1 for each pixel of the object, else 0"""


@dataclass(frozen=True)
class Instance:
    """An object in a picture, and its pixels."""

    label: str
    index: int
    score: float
    box: Box
    mask: InstanceMask


@dataclass(frozen=True)
class Keypoint:
    """A named point, in pixels of the upright picture."""

    label: str
    x: float
    y: float
    score: float


@dataclass(frozen=True)
class Mask:
    """A class for each place of a picture."""

    classes: NDArray[numpy.uint8]
    """[height, width]: the best class of each place; of a model with one class, 1 where it is"""
    scores: Floats
    """[height, width]: the model's confidence"""
    labels: tuple[str, ...]
    """names of the classes; empty where they have none"""


@dataclass(frozen=True)
class RgbaPicture:
    """A picture that a model made."""

    pixels: NDArray[numpy.uint8]
    """[height, width, 4]: red, green, blue and alpha; colours are not multiplied by alpha"""

    def to_pillow(self) -> Any:
        """The picture as one of Pillow's, which must be installed."""
        import PIL.Image

        return PIL.Image.fromarray(self.pixels, "RGBA")


@dataclass(frozen=True)
class Reading:
    """A text that a model read."""

    text: str
    score: float
    """mean confidence in its symbols; 0 for an empty text"""


@dataclass(frozen=True)
class Entity:
    """A named part of a text."""

    label: str
    text: str
    start: int
    """index of the text where it begins"""
    end: int
    """index after its end"""
    score: float


@dataclass(frozen=True)
class NamedValues:
    """The numbers of each name, one for each step, and their units."""

    series: Mapping[str, Floats]
    units: Mapping[str, str]


def classifications_of(scores: Floats, labels: Sequence[str], top: int, threshold: float) -> list[Classification]:
    """The best classes, best first, ties by index; those below the threshold and NaN are omitted."""
    order = [index for index in numpy.argsort(-scores, kind="stable").tolist() if scores[index] >= threshold]
    return [Classification(label_of(labels, index), index, float(scores[index])) for index in order[:top]]


def detections_of(boxes: Floats, scores: Floats, classes: Integers, labels: Sequence[str]) -> list[Detection]:
    found = zip(boxes.tolist(), scores.tolist(), classes.tolist(), strict=True)
    return [Detection(label_of(labels, index), index, score, Box(*corners)) for corners, score, index in found]


def instances_of(
    boxes: Floats,
    scores: Floats,
    classes: Integers,
    areas: NDArray[numpy.int32],
    places: NDArray[numpy.uint8],
    labels: Sequence[str],
) -> list[Instance]:
    """`places` has the masks one after the other."""
    ends = numpy.cumsum(areas[:, 2].astype(numpy.int64) * areas[:, 3])
    masks = [
        InstanceMask(left, top, part.reshape(height, width))
        for (left, top, width, height), part in zip(areas.tolist(), numpy.split(places, ends)[:-1], strict=True)
    ]
    found = zip(boxes.tolist(), scores.tolist(), classes.tolist(), masks, strict=True)
    return [
        Instance(label_of(labels, index), index, score, Box(*corners), mask) for corners, score, index, mask in found
    ]


def keypoints_of(points: Floats, scores: Floats, labels: Sequence[str]) -> list[Keypoint]:
    found = zip(labels, points.tolist(), scores.tolist(), strict=True)
    return [Keypoint(label, x, y, score) for label, (x, y), score in found]


def mask_of(classes: NDArray[numpy.uint8], scores: Floats, labels: Sequence[str]) -> Mask:
    return Mask(classes, scores, tuple(labels))


def rgba_picture_of(pixels: NDArray[numpy.uint8]) -> RgbaPicture:
    return RgbaPicture(pixels)


def reading_of(symbols: Integers, scores: Floats, alphabet: Sequence[str]) -> Reading:
    text = "".join(label_of(alphabet, index) for index in symbols.tolist())
    return Reading(text, float(scores.mean()) if scores.size else 0.0)


def entities_of(
    classes: Integers, starts: Integers, ends: Integers, scores: Floats, text: str, labels: Sequence[str]
) -> list[Entity]:
    found = zip(classes.tolist(), starts.tolist(), ends.tolist(), scores.tolist(), strict=True)
    return [Entity(label_of(labels, index), text[start:end], start, end, score) for index, start, end, score in found]


def score_of(score: Floats) -> float:
    return float(score.item())


def named_values_of(numbers: Floats, names: Sequence[str], units: Sequence[str]) -> NamedValues:
    return NamedValues(dict(zip(names, numbers.T, strict=True)), dict(zip(names, units, strict=True)))


def sound_of(samples: Floats, rate: int, channels: int) -> Sound:
    """Silence where the model gives no number."""
    heard = numpy.where(numpy.isnan(samples), numpy.float32(0), samples)
    return Sound(heard.reshape(-1, channels), rate)


def label_of(labels: Sequence[str], index: int) -> str:
    return labels[index] if 0 <= index < len(labels) else ""
