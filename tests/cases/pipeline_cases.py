"""Pictures and boxes for pipelines, and what Python makes of them: every language gives the same."""

import json
from collections.abc import Sequence
from itertools import product

import numpy as np

from packager.core.crops import region_of
from packager.core.values import Plan
from tests.toolchain.typed_models import scanned

SMALL = np.random.default_rng(2).integers(0, 9, 1000).astype(np.uint8)
"""pixels that are places in a picture, too"""
EDGES = (
    (1.25, 0.5, 3.75, 2),
    (-3, -1, 100, 2.5),
    (2, 2, 2, 2),
    (7.5, 5.5, 1, 1),
    (float("nan"), 0.125, float("inf"), -float("inf")),
    (1e30, -1e30, 1e38, -5),
    (9, 11, 12, 12.5),
)
"""left, top, right and bottom of boxes, of which 32-bit floats have all but the largest ones exactly"""
PLACES = [*product([(8, 6), (2, 10), (2, 2)], range(1, 9), EDGES)]
"""width and height of a stored picture, its orientation, and a box in it"""
CUTS = [[*size, orientation, *map(json.dumps, edges)] for size, orientation, edges in PLACES]
"""the same as JSON for test apps: edges are texts, for some are no numbers"""


def cut() -> list[list[list[int]]]:
    """The regions of `PLACES`: of pixels, then of luma and chroma."""
    return [
        [
            list(vars(region_of(edges, width, height, turn, is_even=is_even)).values())
            for (width, height), turn, edges in PLACES
        ]
        for is_even in (False, True)
    ]


def all_scanned(plans: Sequence[Plan]) -> list[list[list[str]]]:
    """By orientation, the items of 5 x 6 pixels within rows of 7, and of luma and chroma."""
    pixels = SMALL[: 6 * 28].reshape(6, 28)[:, 4:24].reshape(6, 5, 4)
    luma, chroma = SMALL[:48].reshape(6, 8, 1), SMALL[48:72].reshape(3, 4, 2)
    found = [[scanned(plans, pixels, turn), scanned(plans, luma, turn, chroma)] for turn in range(1, 9)]
    assert {line.endswith(" | null") for of_turn in found for lines in of_turn for line in lines} == {True, False}
    return found
