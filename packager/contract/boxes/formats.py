"""The output formats of detection models."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from packager.contract.boxes.candidates import Candidates
from packager.contract.boxes.regions import Regions, boxed
from packager.contract.kind import Core
from packager.contract.scores import Activation, activated, floats, in_words, shaped
from packager.core.errors import ConfigError
from packager.core.signature import ElementType, TensorSpec
from packager.graph.writer import Writer

Order = Literal["xyxy", "yxyx", "cxcywh", "xywh"]

KEEP = 'leave the output as it is (kind = "tensor") when no format fits'


@dataclass(frozen=True, kw_only=True)
class BoxLayout:
    """Format settings of the table."""

    scores: str
    """the output with scores, if separate"""
    classes: str
    """the output with classes, if scores are of the best class only"""
    order: Order
    activation: Activation
    background: int | None
    regions: Regions
    core_size: tuple[int, int] | None
    """width and height of the core's picture"""
    extra: int = 0
    """numbers of each box behind its scores and class, with a meaning of their own"""


Decoder = Callable[[Writer, TensorSpec, Core, BoxLayout], Candidates]


def yolo(writer: Writer, spec: TensorSpec, core: Core, layout: BoxLayout) -> Candidates:
    """`[1, 4 + n, m]`: centre and size, then n scores."""
    form = f"[1, 4 + classes{_and(layout.extra)}, boxes]"
    rows, count = _sizes(spec, form, least=(5 + layout.extra, 1))
    values, end = shaped(writer, spec, [rows, count]), rows - layout.extra
    boxes = writer.node("Transpose", writer.node("Slice", values, [0], [4], [0]), perm=[1, 0])
    scores = writer.node("Slice", values, [4], [end], [0])
    others = []
    if layout.extra:
        others.append(writer.node("Transpose", writer.node("Slice", values, [end], [rows], [0]), perm=[1, 0]))
    return Candidates(
        corners=corners(writer, boxes, layout.order),
        scores=activated(writer, scores, layout.activation, axis=0),
        class_axis=0,
        class_count=end - 4,
        others=tuple(others),
    )


def yolo_objectness(writer: Writer, spec: TensorSpec, core: Core, layout: BoxLayout) -> Candidates:
    """`[1, m, 5 + n]`: centre and size, objectness, then n class scores to multiply by it."""
    count, columns = _sizes(spec, f"[1, boxes, 5 + classes{_and(layout.extra)}]", least=(1, 6 + layout.extra))
    values, last = shaped(writer, spec, [count, columns]), columns - layout.extra
    boxes = writer.node("Slice", values, [0], [4], [1])
    shares = activated(writer, writer.node("Slice", values, [4], [last], [1]), layout.activation)
    is_thing, scores = (writer.node("Slice", shares, [start], [end], [1]) for start, end in ((0, 1), (1, columns)))
    return Candidates(
        corners=corners(writer, boxes, layout.order),
        scores=writer.node("Mul", scores, is_thing),
        class_axis=1,
        class_count=last - 5,
        others=_behind(writer, values, last, columns),
    )


def rows(writer: Writer, spec: TensorSpec, core: Core, layout: BoxLayout) -> Candidates:
    """`[1, m, 6]`: box, score, class: the output of models that select boxes themselves."""
    form = f"[1, boxes, 6{_and(layout.extra)}]"
    count, columns = _sizes(spec, form, least=(1, 6))
    if columns != 6 + layout.extra:
        raise ConfigError(f"the output is {in_words(spec)}: not {form}", hint=KEEP)
    values = shaped(writer, spec, [count, columns])
    boxes, scores, classes = (
        writer.node("Slice", values, [start], [end], [1]) for start, end in ((0, 4), (4, 5), (5, 6))
    )
    return Candidates(
        corners=corners(writer, boxes, layout.order),
        scores=activated(writer, scores, layout.activation),
        class_axis=1,
        class_count=0,
        given_classes=writer.cast(writer.node("Reshape", classes, [-1]), ElementType.INT64),
        others=_behind(writer, values, 6, columns),
    )


def _and(extra: int) -> str:
    return f" + {extra}" if extra else ""


def _behind(writer: Writer, values: str, start: int, columns: int) -> tuple[str, ...]:
    """The columns of `values` from `start` on, if there are any."""
    return (writer.node("Slice", values, [start], [columns], [1]),) if start < columns else ()


def corner_outputs(writer: Writer, spec: TensorSpec, core: Core, layout: BoxLayout) -> Candidates:
    """`[1, m, 4]`, with scores `[1, m, n]`, `[1, n, m]` or `[1, m]` in another output."""
    count, columns = _sizes(spec, "[1, boxes, 4]", least=(1, 4))
    if columns != 4:
        raise ConfigError(f"the output is {in_words(spec)}: not [1, boxes, 4]", hint=KEEP)
    boxes = shaped(writer, spec, [count, 4])
    scores, axis, class_count = _scores(writer, core.other("scores", layout.scores, spec), count)
    given = ""
    if layout.classes:
        if class_count != 1:
            raise ConfigError(
                f"scores '{layout.scores}' have {class_count} classes each, so 'classes' has no effect",
                hint="remove 'classes': the best class is found from the scores",
            )
        given = _classes(writer, core.other("classes", layout.classes, spec), count)
    shares = activated(writer, scores, layout.activation, axis=axis)
    if layout.background is not None:
        kept = _without(layout.background, class_count)
        shares, class_count = writer.node("Gather", shares, kept, axis=axis), len(kept)
    return Candidates(
        corners=corners(writer, boxes, layout.order),
        scores=shares,
        class_axis=axis,
        class_count=0 if given else class_count,
        given_classes=given,
    )


def regions(writer: Writer, spec: TensorSpec, core: Core, layout: BoxLayout) -> Candidates:
    """`[1, 1, h, w]` or `[1, h, w]`: a probability for each place."""
    others = list(enumerate(spec.shape))[:-2]
    if len(others) not in (1, 2) or any(size != 1 and isinstance(size, int) for _, size in others):
        raise ConfigError(f"the output is {in_words(spec)}: not [1, 1, height, width]", hint=KEEP)
    likelihoods = _map(writer, spec)
    found = boxed(writer, activated(writer, likelihoods, layout.activation), layout.regions)
    scores = writer.node("Unsqueeze", found.scores, [0])
    return Candidates(
        corners=_of_core(writer, found.corners, likelihoods, layout.core_size),
        scores=scores,
        class_axis=0,
        class_count=1,
        given_classes=writer.cast(writer.node("Mul", found.scores, 0.0), ElementType.INT64),
    )


def _map(writer: Writer, spec: TensorSpec) -> str:
    """`spec` as [height, width]."""
    sizes = [size if isinstance(size, int) else -1 for size in spec.shape[-2:]]
    if sizes.count(-1) < 2:
        return shaped(writer, spec, sizes)
    axes = list(range(len(spec.shape) - 2))
    return writer.cast(writer.node("Squeeze", floats(writer, spec), axes), writer.real)


DECODERS: Mapping[str, Decoder] = {
    "yolo": yolo,
    "yolo-objectness": yolo_objectness,
    "rows": rows,
    "corners": corner_outputs,
    "regions": regions,
}


def corners(writer: Writer, boxes: str, order: Order) -> str:
    """`boxes` [m, 4] as left, top, right, bottom."""
    if order == "xyxy":
        return boxes
    if order == "yxyx":
        return writer.node("Gather", boxes, [1, 0, 3, 2], axis=1)
    point, size = (writer.node("Slice", boxes, [start], [start + 2], [1]) for start in (0, 2))
    if order == "xywh":
        return writer.node("Concat", point, writer.node("Add", point, size), axis=1)
    half = writer.node("Mul", size, 0.5)
    return writer.node("Concat", writer.node("Sub", point, half), writer.node("Add", point, half), axis=1)


def _of_core(writer: Writer, corners: str, likelihoods: str, core_size: tuple[int, int] | None) -> str:
    """Positions in the map as pixels of the core's picture."""
    if core_size is None:
        return corners
    height, width = (writer.node("Shape", likelihoods, start=axis, end=axis + 1) for axis in (0, 1))
    places = writer.cast(writer.node("Concat", width, height, width, height, axis=0), writer.real)
    return writer.node("Mul", corners, writer.node("Div", [float(size) for size in core_size] * 2, places))


def _sizes(spec: TensorSpec, wanted: str, *, least: tuple[int, int]) -> tuple[int, int]:
    """The last two sizes of `spec`; -1 for an open one if its `least` is 1.

    Raises ConfigError if one is less than `least`, or an outer dimension is not 1.
    """
    *others, first, last = spec.shape if len(spec.shape) > 1 else (0, 0)
    sizes = [size if isinstance(size, int) else -1 for size in (first, last)]
    are_fit = [size >= lower or (size == -1 and lower == 1) for size, lower in zip(sizes, least, strict=True)]
    is_one = not others or (len(others) == 1 and (others[0] == 1 or not isinstance(others[0], int)))
    if not is_one or not all(are_fit):
        raise ConfigError(f"the output is {in_words(spec)}: not {wanted}", hint=KEEP)
    return sizes[0], sizes[1]


def _scores(writer: Writer, spec: TensorSpec, count: int) -> tuple[str, int, int]:
    """Scores in two dimensions, the axis of classes, and the number of classes."""
    sizes = [size if isinstance(size, int) else -1 for size in spec.shape]
    inner = sizes[1:] if len(sizes) > 1 and sizes[0] in (1, -1) else sizes
    if inner == [count]:
        return shaped(writer, spec, [count, 1]), 1, 1
    if len(inner) == 2 and inner[0] == count and inner[1] > 0:
        return shaped(writer, spec, inner), 1, inner[1]
    if len(inner) == 2 and inner[1] == count and inner[0] > 0:
        return shaped(writer, spec, inner), 0, inner[0]
    raise ConfigError(
        f"scores '{spec.name}' are {in_words(spec)}: not of {'' if count < 0 else f'{count} '}boxes",
        hint="the shape must be [1, boxes, classes], [1, classes, boxes] or [1, boxes]",
    )


def _without(background: int, count: int) -> list[int]:
    """The classes other than the background."""
    if not -count <= background < count or count == 1:
        raise ConfigError(
            f"background {background} is not one of the model's {count} classes",
            hint="use an index from 0, or -1 for the last",
        )
    return [number for number in range(count) if number != background % count]


def _classes(writer: Writer, spec: TensorSpec, count: int) -> str:
    sizes = [size if isinstance(size, int) else -1 for size in spec.shape if size != 1]
    if sizes != [count] and sizes != [-1, count]:
        raise ConfigError(
            f"classes '{spec.name}' are {in_words(spec)}: not of {count} boxes", hint="the shape must be [1, boxes]"
        )
    return writer.cast(writer.node("Reshape", shaped(writer, spec, [1, -1]), [-1]), ElementType.INT64)
