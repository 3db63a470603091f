"""Every box that a model proposes, before selection."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Candidates:
    """Names of values in the graph."""

    corners: str
    """float [m, 4]: left, top, right, bottom, in the core's pixels"""
    scores: str
    """float [classes, m], or [m, classes]"""
    class_axis: int
    """axis of the classes in `scores`"""
    class_count: int
    """0 if unknown"""
    given_classes: str = ""
    """int64 [m]: classes given by the model; then `scores` has one class, and boxes do not suppress each other"""
    others: tuple[str, ...] = ()
    """[m, ...]: what else belongs to each box"""
