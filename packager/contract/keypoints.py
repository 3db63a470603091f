"""The kind `keypoints`: named points of one person, hand, face or object in a picture."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import ClassVar, Literal, Self

from packager.contract.kind import AttachedOutput, Core, Placement
from packager.contract.labels import refuse_names
from packager.contract.pictures import placement_of, upright
from packager.contract.scores import Activation, activated, in_words, shaped, sizes_of_one
from packager.core.contract import KeypointsOutput
from packager.core.errors import ConfigError, SettingError
from packager.core.signature import ElementType, TensorSpec
from packager.core.strict_tables import STRICT
from packager.graph.writer import Writer

FINGERS = ("index finger", "middle finger", "ring finger", "pinky")


def _both(*parts: str) -> tuple[str, ...]:
    return tuple(f"{side} {part}" for part in parts for side in ("left", "right"))


SKELETONS: Mapping[str, tuple[str, ...]] = {
    "coco-17": ("nose", *_both("eye", "ear", "shoulder", "elbow", "wrist", "hip", "knee", "ankle")),
    "mediapipe-hand-21": (
        "wrist",
        *(f"thumb {joint}" for joint in ("cmc", "mcp", "ip", "tip")),
        *(f"{finger} {joint}" for finger in FINGERS for joint in ("mcp", "pip", "dip", "tip")),
    ),
    "mediapipe-pose-39": (
        "nose",
        *(f"{side} eye{part}" for side in ("left", "right") for part in (" inner", "", " outer")),
        *_both("ear"),
        "mouth left",
        "mouth right",
        *_both("shoulder", "elbow", "wrist", "pinky", "index", "thumb"),
        *_both("hip", "knee", "ankle", "heel", "foot index"),
        *(f"auxiliary {number}" for number in range(1, 7)),
    ),
}
"""Names of points in the order of COCO's annotations, and of MediaPipe's HandLandmark and PoseLandmark: the model of
poses has six points more, for its own use."""


@dataclass(frozen=True, kw_only=True)
class Keypoints:
    """One point for each name, with a score, in pixels of the upright picture. Points outside of it stay outside.

    `heatmaps`: the place with the largest value of each map, of equal ones the first, moved by a quarter towards the
    larger of its two neighbours in each direction, unless it lies in the two first rows or columns or in the last one
    (MMPose, `refine_keypoints`); place x of a map of width w is `x * width / w` of the model's picture. `simcc`: the
    same of two lines for each point, unmoved; the score is the smaller one of both.
    """

    KIND: ClassVar[str] = "keypoints"
    __pydantic_config__: ClassVar[Mapping[str, object]] = STRICT

    kind: Literal["keypoints"] = "keypoints"
    """kind of the output"""
    format: Literal["heatmaps", "simcc", "numbers"]
    """form of the model's output. `heatmaps`: [1, points, h, w] (HRNet, ViTPose). `simcc`: [1, points, n] for x, and
    another output for y (RTMPose). `numbers`: [1, points, c] or [1, points * c], a position and c - 2 other numbers for
    each point (MoveNet, BlazePose, regressions)"""
    names: tuple[str, ...]
    """name of each point in the model's order, or one of the known lists: `["coco-17"]`, `["mediapipe-hand-21"]`,
    `["mediapipe-pose-39"]`"""
    y: str = ""
    """of `simcc`: the output with the lines for y"""
    order: Literal["xy", "yx"] = "xy"
    """of `numbers`: meaning of the first two"""
    coordinates: Literal["pixels", "relative"] = "pixels"
    """of `numbers`: `relative` is from 0 to 1 across the model's input picture"""
    score: int = 2
    """of `numbers`: place of the score among those of a point; a point without such a number has score 1"""
    activation: Activation = "none"
    """activation that turns scores into probabilities, if the model does not include it: `none` or `sigmoid`"""
    image: str = ""
    """the input with the picture that the points are in, if there are several"""

    def __post_init__(self) -> None:
        """Raises SettingError."""
        refuse_names(self.points, hint="name each point of the model")
        if self.format == "simcc" and not self.y:
            raise SettingError("'y' is missing", hint="set it to the output with the lines for y")
        if self.format != "simcc" and self.y:
            raise SettingError(f"'y' has no effect with format '{self.format}'", hint="remove it: it is for 'simcc'")
        if self.format != "numbers" and (self.order, self.coordinates, self.score) != ("xy", "pixels", 2):
            raise SettingError(
                f"order, coordinates and score have no effect with format '{self.format}'",
                hint="remove them: they are for 'numbers'",
            )
        if self.score < 2:
            raise SettingError(
                f"score {self.score} is the place of a coordinate", hint="count from 0: x, y, then others"
            )
        if self.activation == "softmax":
            raise SettingError("scores of points are not a softmax", hint='use activation = "sigmoid" or "none"')

    @property
    def points(self) -> tuple[str, ...]:
        return SKELETONS.get(self.names[0], self.names) if len(self.names) == 1 else self.names

    def within(self, folder: Path) -> Self:
        return self

    def attach(self, writer: Writer, spec: TensorSpec, core: Core) -> AttachedOutput:
        placement = placement_of(core, self.image)
        if placement is None and (self.format != "numbers" or self.coordinates == "relative"):
            raise ConfigError("the model takes no picture that the points are in", hint='use format = "numbers"')
        writer = writer.hiding(placement.nothing if placement else "")
        points, scores = self._found(writer, spec, core, placement)
        if placement:
            points, _ = upright(writer, points, placement, pairs=1)
        count = len(self.points)
        typed = KeypointsOutput(
            identifier=spec.identifier,
            points=writer.output(writer.cast(points, ElementType.FLOAT), "points", ElementType.FLOAT, (count, 2)),
            scores=writer.output(writer.cast(scores, ElementType.FLOAT), "scores", ElementType.FLOAT, (count,)),
            labels=self.points,
        )
        return AttachedOutput(typed=typed, taken=tuple(filter(None, (spec.name, self.y))))

    def _found(self, writer: Writer, spec: TensorSpec, core: Core, placement: Placement | None) -> tuple[str, str]:
        """[points, 2] in the core's pixels, and [points]."""
        size = (placement.core_width, placement.core_height) if placement else (1, 1)
        if self.format == "numbers":
            return self._numbers(writer, spec, size)
        if self.format == "heatmaps":
            return self._of_heatmaps(writer, spec, size)
        lines = [self._lines(writer, each) for each in (spec, core.other("y", self.y, spec))]
        found = [
            writer.node("Mul", writer.cast(writer.node("ArgMax", line, axis=1), writer.real), length / places)
            for (line, places), length in zip(lines, size, strict=True)
        ]
        scores = [writer.node("ReduceMax", line, [1], keepdims=0) for line, _ in lines]
        return writer.node("Concat", *found, axis=1), activated(writer, writer.node("Min", *scores), self.activation)

    def _lines(self, writer: Writer, spec: TensorSpec) -> tuple[str, int]:
        """[points, n], and n."""
        (places,) = self._sizes(spec, 1, "[1, points, n]")
        return shaped(writer, spec, [len(self.points), places]), places

    def _sizes(self, spec: TensorSpec, count: int, form: str) -> tuple[int, ...]:
        """The last `count` sizes of a tensor whose sizes before are 1, but for the number of points."""
        sizes = sizes_of_one(spec)
        before = [size for size in sizes[:-count] if size != 1] or [1]
        last = tuple(size for size in sizes[-count:] if isinstance(size, int) and size > 0)
        if len(last) != count or before != [len(self.points)]:
            raise ConfigError(
                f"the output '{spec.name}' is {in_words(spec)}: not {form} of {len(self.points)} points",
                hint="write as many names as the model has points, in its order",
            )
        return last

    def _of_heatmaps(self, writer: Writer, spec: TensorSpec, size: tuple[int, int]) -> tuple[str, str]:
        height, width = self._sizes(spec, 2, "[1, points, height, width]")
        count = len(self.points)
        maps = shaped(writer, spec, [count, height * width])
        place = writer.node("ArgMax", maps, axis=1)
        row = writer.node("Div", place, width)
        column = writer.node("Sub", place, writer.node("Mul", row, width))
        found = []
        for line, step, most, length in ((column, 1, width, size[0]), (row, width, height, size[1])):
            at = [
                writer.node("GatherElements", maps, _within(writer, place, move, height * width), axis=1)
                for move in (step, -step)
            ]
            is_inside = writer.node("And", writer.node("Greater", line, 1), writer.node("Less", line, most - 1))
            moved = writer.node("Mul", writer.node("Sign", writer.node("Sub", *at)), 0.25)
            moved = writer.node("Mul", moved, writer.cast(is_inside, writer.real))
            whole = writer.node("Add", writer.cast(line, writer.real), moved)
            found.append(writer.node("Mul", whole, length / most))
        return (
            writer.node("Concat", *found, axis=1),
            activated(writer, writer.node("ReduceMax", maps, [1], keepdims=0), self.activation),
        )

    def _numbers(self, writer: Writer, spec: TensorSpec, size: tuple[int, int]) -> tuple[str, str]:
        count = len(self.points)
        sizes = sizes_of_one(spec)
        known = [each for each in sizes if isinstance(each, int)]
        each, rest = divmod(prod(known), count)
        if len(known) != len(sizes) or rest or each < 2 or not sizes:
            raise ConfigError(
                f"the output is {in_words(spec)}: not two or more numbers for each of {count} points",
                hint="write as many names as the model has points, in its order",
            )
        numbers = shaped(writer, spec, [count, each])
        order = [0, 1] if self.order == "xy" else [1, 0]
        points = writer.node("Concat", *(_column(writer, numbers, at) for at in order), axis=1)
        if self.coordinates == "relative":
            points = writer.node("Mul", points, [float(size[0]), float(size[1])])
        if self.score >= each:
            is_number = writer.cast(writer.node("Equal", points, points), writer.real)
            return points, writer.node("ReduceMin", is_number, [1], keepdims=0)
        score = writer.node("ReduceMax", _column(writer, numbers, self.score), [1], keepdims=0)
        return points, activated(writer, score, self.activation)


def _column(writer: Writer, numbers: str, at: int) -> str:
    return writer.node("Slice", numbers, [at], [at + 1], [1])


def _within(writer: Writer, place: str, move: int, count: int) -> str:
    """`place + move`, at least 0 and less than `count`."""
    return writer.node("Min", writer.node("Max", writer.node("Add", place, move), 0), count - 1)
