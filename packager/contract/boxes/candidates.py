"""Every box that a model proposes, before any is left out."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Candidates:
    """Names of values in the graph."""

    corners: str
    """float [m, 4]: left, top, right, bottom, in what the core sees"""
    scores: str
    """float [classes, m], or [m, classes]"""
    class_axis: int
    """of `scores`"""
    class_count: int
    """0 when it is not known"""
    given_classes: str = ""
    """int64 [m]: what the model says itself; `scores` are of one class then, and no box leaves out another"""
