"""Results of a model according to its contract, in the form of the generated classes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from packager.core.contract import (
    BoxesOutput,
    ClassesOutput,
    EmbeddingOutput,
    GeneratedOutput,
    InstancesOutput,
    KeypointsOutput,
    MaskOutput,
    PairsOutput,
    PictureOutput,
    SoundOutput,
    SpansOutput,
    TensorOutput,
    TextOutput,
    TypedOutput,
    ValuesOutput,
)
from packager.core.described import Plain

if TYPE_CHECKING:
    import numpy


@dataclass(frozen=True, kw_only=True)
class Classification:
    label: str
    """empty without labels"""
    index: int
    score: float


@dataclass(frozen=True, kw_only=True)
class Box:
    """Coordinates in pixels of the upright picture."""

    left: float
    top: float
    right: float
    bottom: float


@dataclass(frozen=True, kw_only=True)
class Detection:
    label: str
    index: int
    score: float
    box: Box


@dataclass(frozen=True, kw_only=True)
class InstanceMask:
    """Pixels of the upright picture that are an object's, among those of its box."""

    left: int
    top: int
    width: int
    height: int
    places: bytes
    """1 for each pixel of the object, else 0, row by row"""


@dataclass(frozen=True, kw_only=True)
class Instance:
    label: str
    index: int
    score: float
    box: Box
    mask: InstanceMask


@dataclass(frozen=True, kw_only=True)
class InstanceArea:
    """Place of a mask, and the number of pixels that are the object's."""

    left: int
    top: int
    width: int
    height: int
    pixels: int


@dataclass(frozen=True, kw_only=True)
class FoundInstance:
    label: str
    index: int
    score: float
    box: Box
    mask: InstanceArea


@dataclass(frozen=True, kw_only=True)
class Keypoint:
    """A named point, in pixels of the upright picture."""

    label: str
    x: float
    y: float
    score: float


@dataclass(frozen=True, kw_only=True)
class Share:
    """Share of a picture that a class covers."""

    label: str
    index: int
    share: float


@dataclass(frozen=True, kw_only=True)
class MaskResult:
    width: int
    height: int
    shares: tuple[Share, ...]
    """of the classes that occur, the largest first"""


@dataclass(frozen=True, kw_only=True)
class PictureResult:
    """A picture that a model made."""

    width: int
    height: int
    pixels: bytes
    """red, green, blue and alpha of each pixel, row by row; alpha is straight"""


@dataclass(frozen=True, kw_only=True)
class PictureFile:
    """A picture that a model made, as a file."""

    width: int
    height: int
    file: str


@dataclass(frozen=True, kw_only=True)
class DrawnInstances:
    """Objects in a picture, and the picture with their masks."""

    found: tuple[Instance, ...]
    picture: PictureResult


@dataclass(frozen=True, kw_only=True)
class InstancesFile:
    """Objects in a picture, and the picture with their masks as a file."""

    instances: tuple[FoundInstance, ...]
    picture: PictureFile


@dataclass(frozen=True, kw_only=True)
class Reading:
    text: str
    score: float
    """mean score of the symbols; 0 for an empty text"""


@dataclass(frozen=True, kw_only=True)
class TextPart:
    """A part of a generated text: that of one step."""

    text: str
    is_last: bool


@dataclass(frozen=True, kw_only=True)
class Entity:
    """A named part of a text, from the code point `start` to the one before `end`."""

    label: str
    text: str
    start: int
    end: int
    score: float


@dataclass(frozen=True, kw_only=True)
class NamedValues:
    """The numbers of each name, one for each step, and their units."""

    series: Mapping[str, tuple[float, ...]]
    units: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class SoundResult:
    """Samples from -1 to 1, interleaved: 0 where the model gives no number."""

    samples: tuple[float, ...]
    rate: int
    channels: int


@dataclass(frozen=True, kw_only=True)
class SoundFile:
    """A sound that a model made, as a file."""

    seconds: float
    rate: int
    channels: int
    file: str


Answer = (
    tuple[Classification, ...]
    | tuple[Detection, ...]
    | tuple[Instance, ...]
    | DrawnInstances
    | InstancesFile
    | tuple[Keypoint, ...]
    | tuple[Entity, ...]
    | MaskResult
    | PictureResult
    | PictureFile
    | Reading
    | NamedValues
    | SoundResult
    | SoundFile
    | TextPart
    | tuple[float, ...]
    | float
    | Any
)
"""result of one typed output; a tensor is a list of lists"""


def answer(
    typed: TypedOutput,
    outputs: "Mapping[str, numpy.ndarray]",
    top: int | None = None,
    *,
    inputs: "Mapping[str, numpy.ndarray] | None" = None,
) -> Answer:
    """Result of `typed` from the model's `outputs` by name; `top` replaces the contract's number of classes. Parts of a
    text need the `inputs`, too."""
    match typed:
        case ClassesOutput():
            return classes(typed, outputs[typed.scores.name], top or typed.top_k)
        case BoxesOutput():
            return boxes(typed, outputs)
        case InstancesOutput():
            return instances(typed, outputs)
        case KeypointsOutput():
            places = zip(
                typed.labels, outputs[typed.points.name].tolist(), outputs[typed.scores.name].tolist(), strict=True
            )
            return tuple(Keypoint(label=label, x=x, y=y, score=score) for label, (x, y), score in places)
        case MaskOutput():
            return mask(typed, outputs[typed.classes.name])
        case PictureOutput():
            height, width, _ = outputs[typed.pixels.name].shape
            return PictureResult(width=width, height=height, pixels=outputs[typed.pixels.name].tobytes())
        case TextOutput():
            return text(typed, outputs)
        case SpansOutput():
            return entities(typed, outputs, (inputs or {})[typed.text.name])
        case PairsOutput():
            return float(outputs[typed.score.name].item())
        case GeneratedOutput():
            return part(typed, outputs)
        case EmbeddingOutput():
            return tuple(outputs[typed.vector.name].tolist())
        case ValuesOutput():
            columns = outputs[typed.numbers.name].T.tolist()
            return NamedValues(
                series={name: tuple(column) for name, column in zip(typed.labels, columns, strict=True)},
                units=dict(zip(typed.labels, typed.units, strict=True)),
            )
        case SoundOutput():
            return sound(typed, outputs[typed.samples.name])
        case TensorOutput():
            return outputs[typed.spec.name].tolist()


def row(typed: TypedOutput, outputs: "Mapping[str, numpy.ndarray]", number: int) -> "Mapping[str, numpy.ndarray]":
    """The tensors of `typed` for the text `number` of a batch, as a run of this text alone gives them."""
    described = typed.DESCRIBED
    tensors = [getattr(typed, each).name for each in described.tensors]
    if described.type is Plain.TENSOR:
        return {name: outputs[name][number : number + 1] for name in tensors}
    return {name: outputs[name][number] for name in tensors}


def classes(typed: ClassesOutput, scores: "numpy.ndarray", top: int) -> tuple[Classification, ...]:
    """The best `top` classes, best first, ties by index; those below the threshold and NaN are omitted."""
    import numpy

    order = [int(index) for index in numpy.argsort(-scores, kind="stable") if scores[index] >= typed.threshold]
    return tuple(
        Classification(label=_label(typed.labels, index), index=index, score=float(scores[index]))
        for index in order[:top]
    )


def boxes(typed: BoxesOutput, outputs: "Mapping[str, numpy.ndarray]") -> tuple[Detection, ...]:
    found = (outputs[spec.name].tolist() for spec in (typed.boxes, typed.scores, typed.classes))
    return tuple(
        Detection(
            label=_label(typed.labels, index),
            index=index,
            score=score,
            box=Box(left=corners[0], top=corners[1], right=corners[2], bottom=corners[3]),
        )
        for corners, score, index in zip(*found, strict=True)
    )


def instances(typed: InstancesOutput, outputs: "Mapping[str, numpy.ndarray]") -> tuple[Instance, ...]:
    found = (outputs[spec.name].tolist() for spec in (typed.boxes, typed.scores, typed.classes, typed.areas))
    places = outputs[typed.places.name].tobytes()
    made: list[Instance] = []
    start = 0
    for corners, score, index, (left, top, width, height) in zip(*found, strict=True):
        end = start + width * height
        mask = InstanceMask(left=left, top=top, width=width, height=height, places=places[start:end])
        box = Box(left=corners[0], top=corners[1], right=corners[2], bottom=corners[3])
        made.append(Instance(label=_label(typed.labels, index), index=index, score=score, box=box, mask=mask))
        start = end
    return tuple(made)


def counted(found: Instance) -> FoundInstance:
    """`found` with the number of its pixels in place of them."""
    area = found.mask
    mask = InstanceArea(
        left=area.left, top=area.top, width=area.width, height=area.height, pixels=area.places.count(b"\1")
    )
    return FoundInstance(label=found.label, index=found.index, score=found.score, box=found.box, mask=mask)


def mask(typed: MaskOutput, places: "numpy.ndarray") -> MaskResult:
    import numpy

    found, counts = numpy.unique(places, return_counts=True)
    shares = [
        Share(label=_label(typed.labels, int(index)), index=int(index), share=float(count / places.size))
        for index, count in zip(found, counts, strict=True)
    ]
    height, width = places.shape
    return MaskResult(width=width, height=height, shares=tuple(sorted(shares, key=lambda each: -each.share)))


def text(typed: TextOutput, outputs: "Mapping[str, numpy.ndarray]") -> Reading:
    symbols, scores = outputs[typed.symbols.name], outputs[typed.scores.name]
    words = "".join(typed.alphabet[index] for index in symbols.tolist())
    return Reading(text=words, score=float(scores.mean()) if scores.size else 0.0)


def entities(typed: SpansOutput, outputs: "Mapping[str, numpy.ndarray]", points: "numpy.ndarray") -> tuple[Entity, ...]:
    """`points` are the code points of the text."""
    words = "".join(chr(point) for point in points.tolist() if point >= 0)
    found = (outputs[spec.name].tolist() for spec in (typed.classes, typed.starts, typed.ends, typed.scores))
    return tuple(
        Entity(label=_label(typed.labels, index), text=words[start:end], start=start, end=end, score=score)
        for index, start, end, score in zip(*found, strict=True)
    )


def sound(typed: SoundOutput, samples: "numpy.ndarray") -> SoundResult:
    import numpy

    heard = numpy.where(numpy.isnan(samples), numpy.float32(0), samples)
    return SoundResult(samples=tuple(heard.reshape(-1).tolist()), rate=typed.rate, channels=typed.channels)


def part(typed: GeneratedOutput, outputs: "Mapping[str, numpy.ndarray]") -> TextPart:
    points, finished = outputs[typed.code_points.name], outputs[typed.is_finished.name]
    return TextPart(text="".join(map(chr, points.tolist())), is_last=bool(finished[0]))


def _label(labels: tuple[str, ...], index: int) -> str:
    return labels[index] if index < len(labels) else ""
