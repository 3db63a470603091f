"""The kind `instances`: objects found in a picture, with their positions and masks."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import log
from pathlib import Path
from typing import ClassVar, Literal, Self

from packager.contract.boxes.formats import KEEP, Order
from packager.contract.boxes.kind import Boxes, outputs_of
from packager.contract.boxes.masks import Planes, areas_of, drawn
from packager.contract.kind import AttachedOutput, Core, Placement
from packager.contract.pictures import placement_of
from packager.contract.scores import Activation, floats, in_words
from packager.core.contract import InstancesOutput
from packager.core.errors import ConfigError, SettingError
from packager.core.signature import ElementType, TensorSpec
from packager.core.strict_tables import STRICT
from packager.graph.writer import Writer


@dataclass(frozen=True, kw_only=True)
class Instances:
    """Boxes, scores, classes and masks, best first; boxes are chosen as those of the kind `boxes` are.

    A mask has the pixels of the upright picture whose centres lie in its box, at least one row and one column. Pixel x,
    with its centre at x + 0.5, is at `scale * (x + 0.5) + offset` in the model's picture. There the model's mask is
    interpolated linearly between the centres of the four places around, then compared with `threshold`; nothing is cut
    off before. Places around a mask that covers its box are 0. Beyond the centres of the outer places of one that
    covers the model's picture, these count; a pixel that the model has not seen is no object's. With `prototypes`, the
    mask is the sum of their products with the coefficients, which is compared with the logit of `threshold`.
    """

    KIND: ClassVar[str] = "instances"
    __pydantic_config__: ClassVar[Mapping[str, object]] = STRICT

    kind: Literal["instances"] = "instances"
    """kind of the output"""
    format: Literal["yolo", "yolo-objectness", "corners", "rows"]
    """form of the boxes, as of the kind `boxes`. The first, second and last have the coefficients of `prototypes`
    behind the other numbers of a box: `yolo`: [1, 4 + n + k, m] (YOLOv8, 11). `yolo-objectness`: [1, m, 5 + n + k]
    (YOLOv5). `rows`: [1, m, 6 + k]. `corners`: [1, m, 4], with scores and masks in other outputs (Mask R-CNN)"""
    prototypes: str = ""
    """the output with the masks that coefficients are for, [1, k, h, w]; it covers the model's picture"""
    masks: str = ""
    """of `corners`: the output with a mask for each box, [m, 1, h, w], [m, h, w] or [1, m, h, w]"""
    cover: Literal["box", "picture"] = "box"
    """of `corners`: what a mask covers: its box, or the model's whole picture (torchvision)"""
    threshold: float = 0.5
    """pixels of an object have a higher probability"""
    scores: str = ""
    """of `corners`: the output with scores, as of the kind `boxes`"""
    classes: str = ""
    """of `corners`: the output with classes, [1, m] or [m], of a model that selects its boxes itself"""
    order: Order | None = None
    """as of the kind `boxes`, like the keys below"""
    coordinates: Literal["pixels", "relative"] = "pixels"
    """`relative`: from 0 to 1 across the model's input picture"""
    activation: Activation = "none"
    """activation that turns scores into probabilities, if the model does not include it"""
    background: int | None = None
    """index of the background class, which is not reported; the others count from 0 without it. -1 is the last"""
    score_threshold: float | None = None
    """boxes need a higher score; default: 0.25"""
    iou_threshold: float | None = None
    """allowed overlap of two boxes; default: 0.5; 1 keeps all boxes"""
    max_boxes: int = 100
    """largest number of instances"""
    agnostic: bool = False
    """whether boxes of different classes suppress each other"""
    labels: Path | None = None
    """file with one class name per line, in the model's order, without the background"""
    image: str = ""
    """the input with the picture that the instances are in, if there are several"""

    def __post_init__(self) -> None:
        """Raises SettingError."""
        _ = self.boxes  # refuses keys that contradict each other
        wanted, other = ("masks", "prototypes") if self.format == "corners" else ("prototypes", "masks")
        if not getattr(self, wanted):
            raise SettingError(f"'{wanted}' is missing", hint=f"set it to the output with the {wanted}")
        if getattr(self, other):
            raise SettingError(f"'{other}' has no effect with format '{self.format}'", hint=f"set '{wanted}'")
        if self.format != "corners" and self.cover != "box":
            raise SettingError(f"'cover' has no effect with format '{self.format}'", hint="remove it")
        if not 0 < self.threshold < 1:
            raise SettingError(f"threshold {self.threshold:g} is not between 0 and 1", hint="omit it for the default")

    @property
    def boxes(self) -> Boxes:
        """The table of the boxes alone."""
        return Boxes(
            format=self.format,
            scores=self.scores,
            classes=self.classes,
            order=self.order,
            coordinates=self.coordinates,
            activation=self.activation,
            background=self.background,
            score_threshold=self.score_threshold,
            iou_threshold=self.iou_threshold,
            max_boxes=self.max_boxes,
            agnostic=self.agnostic,
            labels=self.labels,
        )

    def within(self, folder: Path) -> Self:
        return replace(self, labels=folder / self.labels) if self.labels else self

    def attach(self, writer: Writer, spec: TensorSpec, core: Core) -> AttachedOutput:
        placement = placement_of(core, self.image)
        if placement is None:
            raise ConfigError("the model takes no picture that the instances are in", hint=KEEP)
        writer = writer.hiding(placement.nothing)
        key = "masks" if self.masks else "prototypes"
        drawing = core.other(key, getattr(self, key), spec)
        if self.masks:
            candidates, labels = self.boxes.proposed(writer, spec, core, placement)
            candidates = replace(candidates, others=(_masks(writer, drawing), candidates.corners))
        else:
            count, *_ = _prototypes(drawing)
            candidates, labels = self.boxes.proposed(writer, spec, core, placement, extra=count)
        found = self.boxes.best(writer, candidates, placement)
        areas = areas_of(writer, found.boxes, placement)
        planes = self._planes(writer, drawing, found.others, placement)
        boxes, scores, classes = outputs_of(writer, spec, found)
        shape = boxes.shape
        typed = InstancesOutput(
            identifier=spec.identifier,
            boxes=boxes,
            scores=scores,
            classes=classes,
            areas=writer.output(writer.cast(areas, ElementType.INT32), "areas", ElementType.INT32, shape),
            places=writer.output(
                drawn(writer, planes, areas, placement), "places", ElementType.UINT8, (f"{spec.name}.places",)
            ),
            labels=labels,
            image=core.inputs[self.image or next(iter(core.placements))].identifier,
        )
        return AttachedOutput(typed=typed, taken=(*self.boxes.taken(spec), drawing.name))

    def _planes(self, writer: Writer, drawing: TensorSpec, others: tuple[str, ...], placement: Placement) -> Planes:
        """The masks of the chosen boxes."""
        start, core = writer.doubles(0, 0), writer.doubles(placement.core_width, placement.core_height)
        if not self.masks:
            count, height, width = _prototypes(drawing)
            prototypes = writer.node("Reshape", floats(writer, drawing), [count, height * width])
            sums = writer.node("MatMul", writer.cast(others[0], ElementType.FLOAT), prototypes)
            sums = writer.node("Reshape", sums, [-1, height, width])
            logit = log(self.threshold / (1 - self.threshold))
            above = writer.node("Sub", sums, writer.floats(logit)) if logit else sums
            return Planes(numbers=above, threshold=0, start=start, size=core)
        masks, corners = others
        if self.cover == "picture":
            above = writer.node("Sub", masks, writer.floats(self.threshold))
            return Planes(numbers=above, threshold=0, start=start, size=core)
        corners = writer.cast(corners, ElementType.DOUBLE)
        start, end = (writer.node("Slice", corners, [at], [at + 2], [1]) for at in (0, 2))
        return Planes(numbers=masks, threshold=self.threshold, start=start, size=writer.node("Sub", end, start))


def _prototypes(spec: TensorSpec) -> tuple[int, int, int]:
    """Number, height and width. Raises ConfigError for another output."""
    sizes = [size for size in spec.shape[1:] if isinstance(size, int) and size > 0]
    if len(spec.shape) != 4 or len(sizes) != 3 or (isinstance(spec.shape[0], int) and spec.shape[0] != 1):
        raise ConfigError(f"prototypes '{spec.name}' are {in_words(spec)}: not [1, count, height, width]", hint=KEEP)
    count, height, width = sizes
    return count, height, width


def _masks(writer: Writer, spec: TensorSpec) -> str:
    """float [m, height, width]. Raises ConfigError for another output."""
    numbers = floats(writer, spec)
    if len(spec.shape) == 3:
        return numbers
    ones = [axis for axis in (1, 0) if len(spec.shape) == 4 and spec.shape[axis] == 1]
    if not ones:
        raise ConfigError(
            f"masks '{spec.name}' are {in_words(spec)}: not one of height and width for each box",
            hint="the shape must be [boxes, 1, height, width], [boxes, height, width] or [1, boxes, height, width]",
        )
    return writer.node("Squeeze", numbers, ones[:1])
