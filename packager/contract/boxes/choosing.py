"""Selects the boxes that apps get from those that a model proposes."""

from dataclasses import dataclass, replace

from packager.contract.boxes.candidates import Candidates
from packager.contract.boxes.placing import placed
from packager.contract.kind import Placement
from packager.core.signature import ElementType
from packager.graph.writer import Writer


@dataclass(frozen=True, kw_only=True)
class BoxChoice:
    """Selection settings of the table."""

    score_threshold: float
    iou_threshold: float
    max_boxes: int
    is_agnostic: bool
    """whether boxes of different classes suppress each other"""
    is_multi_label: bool
    """whether a box counts for each class above the threshold"""


@dataclass(frozen=True, kw_only=True)
class ChosenBoxes:
    """Names of values in the graph, best first."""

    boxes: str
    scores: str
    classes: str
    others: tuple[str, ...]
    """as in Candidates"""


@dataclass(frozen=True, kw_only=True)
class FoundBoxes:
    """Pairs of a box and a class, as values in the graph."""

    boxes: str
    """int64 [q]: positions"""
    scores: str
    classes: str
    order: str
    """int64 [q]: tie-breaker for equal scores, lowest first"""


def chosen(writer: Writer, candidates: Candidates, placement: Placement | None, choice: BoxChoice) -> ChosenBoxes:
    """The best of `candidates`, in pixels of the picture if there is one.

    Removes boxes whose score is not above the threshold, that have no area in the picture, or whose corners are not
    finite; then those that overlap a better one, in the core's coordinates.
    """
    best = writer.node("ReduceMax", candidates.scores, [candidates.class_axis], keepdims=0)
    is_kept = writer.node("Greater", best, float(choice.score_threshold))
    is_kept = _both(writer, is_kept, _is_finite(writer, candidates.corners))
    if candidates.given_classes and candidates.class_count:
        is_kept = _both(writer, is_kept, _is_known(writer, candidates))
    sure = _compressed(writer, candidates, is_kept)
    # The number of remaining boxes is known only at run time: no provider takes nodes that depend on it.
    pixels = placed(writer, sure.corners, placement)
    has_area = _has_area(writer, pixels)
    seen, pixels = _compressed(writer, sure, has_area), writer.node("Compress", pixels, has_area, axis=0)
    corners, given = seen.corners, seen.given_classes
    scores = seen.scores if seen.class_axis == 0 else writer.node("Transpose", seen.scores, perm=[1, 0])
    if given:
        boxes = _positions(writer, given)
        found = FoundBoxes(boxes=boxes, scores=writer.node("Squeeze", scores, [0]), classes=given, order=boxes)
    elif choice.is_multi_label or candidates.class_count == 1:
        found = _for_each_class(writer, corners, scores, choice, candidates.class_count)
    else:
        found = _for_best_class(writer, corners, scores, choice, candidates.class_count)
    return _best_first(writer, found, (pixels, *seen.others), choice.max_boxes)


def _compressed(writer: Writer, candidates: Candidates, is_kept: str) -> Candidates:
    """The `candidates` to keep."""
    given = candidates.given_classes
    return replace(
        candidates,
        corners=writer.node("Compress", candidates.corners, is_kept, axis=0),
        scores=writer.node("Compress", candidates.scores, is_kept, axis=1 - candidates.class_axis),
        given_classes=writer.node("Compress", given, is_kept, axis=0) if given else "",
        others=tuple(writer.node("Compress", each, is_kept, axis=0) for each in candidates.others),
    )


def _has_area(writer: Writer, pixels: str) -> str:
    start, end = (writer.node("Slice", pixels, [at], [at + 2], [1]) for at in (0, 2))
    return _all(writer, writer.node("Greater", end, start))


def _is_finite(writer: Writer, corners: str) -> str:
    """Zero times a number is zero, unless it is infinite or NaN."""
    return _all(writer, writer.node("Equal", writer.node("Mul", corners, 0.0), 0.0))


def _all(writer: Writer, truths: str) -> str:
    """Whether each row of `truths` [m, k] is all true."""
    least = writer.node("ReduceMin", writer.cast(truths, ElementType.INT32), [1], keepdims=0)
    return writer.cast(least, ElementType.BOOL)


def _is_known(writer: Writer, candidates: Candidates) -> str:
    """Whether the model's class is a known one."""
    given = candidates.given_classes
    is_below = writer.node("Less", given, candidates.class_count)
    return _both(writer, writer.node("GreaterOrEqual", given, 0), is_below)


def _both(writer: Writer, one: str, other: str) -> str:
    """Logical and, through operators that CoreML does not take: it takes And, but neither Or nor Not."""
    return writer.node("Not", writer.node("Or", writer.node("Not", one), writer.node("Not", other)))


def _picked(writer: Writer, values: str, places: str) -> str:
    """`values` [n] at `places` [q]: like Gather, which CoreML would take."""
    return writer.node("GatherElements", values, places, axis=0)


def _column_of(writer: Writer, rows: str, column: int) -> str:
    """Column of `rows` [q, 3], as [q]."""
    import numpy

    wanted = writer.constant(numpy.arange(3) == column)
    return writer.node("Reshape", writer.node("Compress", rows, wanted, axis=1), [-1])


def _positions(writer: Writer, values: str) -> str:
    """0, 1, 2 ... with the length of `values` [m]."""
    return writer.node("Range", 0, writer.node("Size", values), 1)


def _for_each_class(writer: Writer, corners: str, scores: str, choice: BoxChoice, class_count: int) -> FoundBoxes:
    kept = _suppressed(writer, corners, scores, choice)
    classes, boxes = (_column_of(writer, kept, column) for column in (1, 2))
    pairs = writer.node("Slice", kept, [1], [3], [1])
    order = writer.node("Add", writer.node("Mul", boxes, class_count), classes)
    return FoundBoxes(boxes=boxes, scores=writer.node("GatherND", scores, pairs), classes=classes, order=order)


def _for_best_class(writer: Writer, corners: str, scores: str, choice: BoxChoice, class_count: int) -> FoundBoxes:
    """Each box counts for its best class, of equal ones the first."""
    best_class = writer.node("ArgMax", scores, axis=0, keepdims=0)
    best = writer.node("ReduceMax", scores, [0], keepdims=1)
    if choice.is_agnostic:
        compared = best
    else:
        classes = [[number] for number in range(class_count)]
        is_best = writer.node("Equal", _column(writer, classes), writer.node("Unsqueeze", best_class, [0]))
        compared = writer.node("Where", is_best, scores, float(choice.score_threshold))
    boxes = _column_of(writer, _suppressed(writer, corners, compared, choice), 2)
    return FoundBoxes(
        boxes=boxes,
        scores=_picked(writer, writer.node("Squeeze", best, [0]), boxes),
        classes=_picked(writer, best_class, boxes),
        order=boxes,
    )


def _column(writer: Writer, numbers: list[list[int]]) -> str:
    import numpy

    return writer.constant(numpy.array(numbers, numpy.int64))


def _suppressed(writer: Writer, corners: str, scores: str, choice: BoxChoice) -> str:
    """int64 [q, 3]: 0, class and position of the boxes that non-maximum suppression keeps."""
    return writer.node(
        "NonMaxSuppression",
        writer.cast(writer.node("Unsqueeze", corners, [0]), ElementType.FLOAT),
        writer.cast(writer.node("Unsqueeze", scores, [0]), ElementType.FLOAT),
        writer.integers(choice.max_boxes),
        writer.floats(choice.iou_threshold),
        writer.floats(choice.score_threshold),
    )


def _best_first(writer: Writer, found: FoundBoxes, rows: tuple[str, ...], most: int) -> ChosenBoxes:
    """Sorted by score, at most `most`; `rows` are the boxes in pixels, and what else belongs to each."""
    size = writer.node("Size", found.order)
    count = writer.node("Add", size, writer.nothing) if writer.nothing else writer.node("Unsqueeze", size, [0])
    _, in_order = writer.nodes("TopK", 2, found.order, count, axis=0, largest=0, sorted=1)
    scores = _picked(writer, found.scores, in_order)
    scores, best = writer.nodes("TopK", 2, scores, writer.node("Min", count, [most]), axis=0, largest=1, sorted=1)
    order = _picked(writer, in_order, best)
    places = _picked(writer, found.boxes, order)
    boxes, *others = (writer.node("Gather", each, places) for each in rows)
    return ChosenBoxes(
        boxes=writer.cast(boxes, ElementType.FLOAT),
        scores=writer.cast(scores, ElementType.FLOAT),
        classes=_picked(writer, found.classes, order),
        others=tuple(others),
    )
