"""Finds the assignments that a search may try next, whichever way the evaluation that it waits for turns out."""

import math
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from packager.core.errors import ModelError
from packager.quantization.search import LayerAssignment, Search

Known = Callable[[LayerAssignment], float | None]
"""Assignment -> its drop or its noise; None if it is not known yet."""
Begin = Callable[[Callable[[LayerAssignment], float], Callable[[LayerAssignment], float]], Search]
"""Functions for the drop and the noise of an assignment -> the search, from its start."""
WITHIN, BEYOND = -math.inf, math.inf
"""Drops that are assumed: within any budget, and beyond it."""


@dataclass(frozen=True, kw_only=True)
class Prospect:
    """The state of a search that runs elsewhere."""

    has_ended: bool
    candidates: tuple[LayerAssignment, ...]
    """those that it may try after the one that it waits for, the next ones first"""


class _UnknownError(Exception):
    """The search needs a number that is not known: the drop of `assignment`, or the noise of one, if that is None."""

    def __init__(self, assignment: LayerAssignment | None) -> None:
        super().__init__()
        self.assignment = assignment


def prospect(begin: Begin, drop: Known, noise: Known, count: int) -> Prospect:
    """The state of the search that `begin` starts, which knows `drop` and `noise`; at most `count` candidates.

    Repeats the search from its start with the numbers that are known. Where one is missing, it goes on with both
    outcomes: a search is steered by whether a drop is within the budget.
    """
    waiting: deque[Mapping[LayerAssignment, float]] = deque([{}])
    found: dict[LayerAssignment, None] = {}
    while waiting and len(found) < count:
        assumed = waiting.popleft()
        unknown = _first_unknown(begin, drop, noise, assumed)
        if unknown is None and not assumed:
            return Prospect(has_ended=True, candidates=())
        asked = unknown.assignment if unknown else None
        if asked is None:
            continue
        if assumed:
            found[asked] = None
        waiting.extend({**assumed, asked: outcome} for outcome in (WITHIN, BEYOND))
    return Prospect(has_ended=False, candidates=tuple(found))


def _first_unknown(
    begin: Begin, drop: Known, noise: Known, assumed: Mapping[LayerAssignment, float]
) -> _UnknownError | None:
    """The first number that the search needs and that is neither known nor assumed; None if it needs no more."""

    def known_drop(assignment: LayerAssignment) -> float:
        value = assumed[assignment] if assignment in assumed else drop(assignment)
        if value is None:
            raise _UnknownError(assignment)
        return value

    def known_noise(assignment: LayerAssignment) -> float:
        value = noise(assignment)
        if value is None:
            raise _UnknownError(None)
        return value

    try:
        begin(known_drop, known_noise).run()
    except _UnknownError as unknown:
        return unknown
    except ModelError:  # no assignment is within the budget: the search has ended
        return None
    return None
