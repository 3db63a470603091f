"""The kind `mask`: a class for each place of a picture."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, Literal, Self

from packager.contract.kind import AttachedOutput, Core, Placement
from packager.contract.labels import labels_for
from packager.contract.mask.sampling import interpolated, picked
from packager.contract.pictures import placement_of
from packager.contract.scores import Activation, activated, floats, in_words
from packager.core.contract import MaskOutput
from packager.core.errors import ConfigError
from packager.core.signature import ElementType, TensorSpec
from packager.core.strict_tables import STRICT
from packager.graph.writer import Writer

MOST_CLASSES = 256
"""limit of the one byte per place"""


@dataclass(frozen=True, kw_only=True)
class Mask:
    """One score for each class and place: `[1, n, h, w]`, `[1, h, w, n]`, or `[1, h, w]` of a model with one class.

    With several classes, each place has its best class (of equal ones the first) and its score. With one class, each
    place has its score, and class 1 if the score is not below `threshold`.

    With `size = "picture"`, the mask has the size of the upright picture. Pixel x, with its centre at x + 0.5, is at
    `(scale * (x + 0.5) + offset) * width of the mask / width of the model's picture` in the mask. Several classes are
    sampled at the place that contains this position; one class is interpolated between the centres of the four places
    around it, of fewer at borders. Pixels that the model has not seen, outside a crop, have class 0 and score 0.
    """

    KIND: ClassVar[str] = "mask"
    __pydantic_config__: ClassVar[Mapping[str, object]] = STRICT

    kind: Literal["mask"] = "mask"
    """kind of the output"""
    size: Literal["picture", "model"] = "picture"
    """size of the mask: that of the upright picture, or that of the model's output, including letterbox borders"""
    layout: Literal["auto", "nchw", "nhwc"] = "auto"
    """axis of the classes; `auto` takes the smaller one of the second and the last dimension"""
    activation: Activation = "none"
    """activation that turns scores into probabilities, if the model does not include it: `softmax` for several classes,
    or `sigmoid`"""
    threshold: float = 0.5
    """of one class: smallest score of places that have it"""
    labels: Path | None = None
    """file with one class name per line, in the model's order"""
    image: str = ""
    """the input with the picture of the mask, if there are several"""

    def within(self, folder: Path) -> Self:
        return replace(self, labels=folder / self.labels) if self.labels else self

    def attach(self, writer: Writer, spec: TensorSpec, core: Core) -> AttachedOutput:
        placement = placement_of(core, self.image)
        if self.size == "picture" and placement is None:
            raise ConfigError("the model takes no picture to match the mask's size to", hint='set size = "model"')
        count, is_last = self._classes(spec)
        labels = labels_for(self.labels, count)
        classes, scores = self._mask(writer, spec, count, is_last, placement if self.size == "picture" else None)
        shape = (f"{spec.name}.height", f"{spec.name}.width")
        typed = MaskOutput(
            identifier=spec.identifier,
            classes=writer.output(classes, "classes", ElementType.UINT8, shape),
            scores=writer.output(scores, "scores", ElementType.FLOAT, shape),
            labels=labels,
        )
        return AttachedOutput(typed=typed, taken=(spec.name,))

    def _classes(self, spec: TensorSpec) -> tuple[int, bool]:
        """The number of classes, and whether they are the last dimension. Raises ConfigError for other outputs."""
        shape = spec.shape if len(spec.shape) != 3 else (spec.shape[0], 1, *spec.shape[1:])
        if len(shape) != 4 or not (shape[0] == 1 or not isinstance(shape[0], int)):
            raise ConfigError(
                f"the output is {in_words(spec)}: not [1, classes, height, width]",
                hint='use kind = "tensor" to return it as it is',
            )
        first, last = shape[1], shape[3]
        is_last = self.layout == "nhwc" or (
            self.layout == "auto" and isinstance(last, int) and (not isinstance(first, int) or last < first)
        )
        count = last if is_last else first
        if not isinstance(count, int) or not 1 <= count <= MOST_CLASSES:
            raise ConfigError(
                f"the output is {in_words(spec)}: the number of classes, {count}, is not from 1 to {MOST_CLASSES}",
                hint='set layout to "nchw" or "nhwc"',
            )
        if count == 1 and self.activation == "softmax":
            raise ConfigError("the softmax of a single class is always 1", hint='use activation = "sigmoid"')
        return count, is_last

    def _mask(
        self, writer: Writer, spec: TensorSpec, count: int, is_last: bool, placement: Placement | None
    ) -> tuple[str, str]:
        """Classes and scores, each [height, width]."""
        numbers = floats(writer, spec)
        if count == 1:
            scores = activated(writer, _plane(writer, numbers, spec, is_last), self.activation)
            scores = scores if placement is None else interpolated(writer, scores, placement)
            is_there = writer.node("GreaterOrEqual", scores, float(self.threshold))
            return writer.cast(is_there, ElementType.UINT8), scores
        # A row for each place: XNNPACK computes a softmax along the last of four dimensions wrong behind a convolution
        # (verification/partition/xnnpack/faults.py), and would get no file of the model.
        table = writer.node("Reshape", numbers, [-1, count]) if is_last else numbers
        shares = activated(writer, table, self.activation, axis=1)
        best = writer.cast(writer.node("ArgMax", shares, axis=1, keepdims=0), ElementType.UINT8)
        scores = writer.node("ReduceMax", shares, [1], keepdims=0)
        if is_last:
            size = writer.node("Shape", numbers, start=1, end=3)
            planes = [writer.node("Reshape", each, size) for each in (best, scores)]
        else:
            planes = [writer.node("Squeeze", each, [0]) for each in (best, scores)]
        classes, scores = planes if placement is None else picked(writer, planes, placement)
        return classes, scores


def _plane(writer: Writer, numbers: str, spec: TensorSpec, is_last: bool) -> str:
    """The only class of `spec` as [height, width]."""
    one = [3 if is_last else 1] if len(spec.shape) == 4 else []
    return writer.node("Squeeze", numbers, [0, *one])
