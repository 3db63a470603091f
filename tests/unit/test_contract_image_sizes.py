"""The sizes of pictures, which graphs compute in integers, are those of 64-bit floats."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy
import numpy.typing
import pytest

from packager.contract.image.placing import Fitting, fit
from packager.core.signature import ElementType
from packager.graph.writer import Writer
from tests.cases.contract_graphs import Ran, graph_of
from tests.nights import AT_NIGHT

Numbers = numpy.typing.NDArray[Any]
Wanted = Callable[[Numbers, Numbers], tuple[Numbers, Numbers]]
LONGEST = 4096
SMALL = 512
HEIGHTS: dict[str, Sequence[int]] = {
    "those to 512 and every thirteenth": (*range(1, SMALL + 1), *range(SMALL + 1, LONGEST + 1, 13)),
    "all": range(1, LONGEST + 1),
}
"""Heights up to LONGEST, of which small ones are halved most often, where a number is rounded to even."""
ROWS = 512
"""heights that are computed at a time, each with all widths"""
HEIGHT, WIDTH = 224, 320
TO = 384


def letterbox(width: Numbers, height: Numbers) -> tuple[Numbers, Numbers]:
    """Pillow's ImageOps.contain: rounded, halves to even."""
    made_width = numpy.clip(numpy.rint(width * HEIGHT / height), 1, WIDTH)
    made_height = numpy.clip(numpy.rint(height * WIDTH / width), 1, HEIGHT)
    return made_width, made_height


def cover(width: Numbers, height: Numbers) -> tuple[Numbers, Numbers]:
    made_width = numpy.maximum(WIDTH, numpy.floor(width * HEIGHT / height))
    return made_width, numpy.maximum(HEIGHT, numpy.floor(height * WIDTH / width))


def shorter_side(width: Numbers, height: Numbers) -> tuple[Numbers, Numbers]:
    """torchvision's Resize."""
    short = numpy.minimum(width, height)
    return numpy.floor(width * TO / short), numpy.floor(height * TO / short)


CASES: dict[str, tuple[dict[str, Any], Wanted, Callable[[Numbers], Numbers]]] = {
    "letterbox": ({"resize": "letterbox"}, letterbox, numpy.floor),
    "crop": ({"resize": "crop"}, cover, numpy.rint),
    "crop of a size": ({"resize": "crop", "resize_to": TO}, shorter_side, numpy.rint),
}


@pytest.mark.parametrize("heights", [name for name in HEIGHTS if name != "all" or AT_NIGHT])
@pytest.mark.parametrize("case", CASES)
def test_every_size_fits_as_in_floats(case: str, heights: str) -> None:
    """Heights with every width to LONGEST."""
    keys, wanted, rounded = CASES[case]
    writer = Writer(scope="x")
    fitting = Fitting(**{"resize_to": None, "align": "center", "height": HEIGHT, "width": WIDTH, **keys})
    made = fit(writer, fitting, "width", "height")
    values = [(name, ElementType.INT64, ("n",)) for name in (made.width, made.height, made.left, made.top)]
    ran = Ran(graph_of(writer, values, inputs=[(name, ElementType.INT64, ("n",)) for name in ("width", "height")]))
    widths = numpy.arange(1, LONGEST + 1)
    for start in range(0, len(HEIGHTS[heights]), ROWS):
        chosen = numpy.array(HEIGHTS[heights][start : start + ROWS])
        height, width = (each.ravel() for each in numpy.meshgrid(chosen, widths, indexing="ij"))
        found = ran({"width": width, "height": height})
        made_width, made_height = wanted(width, height)
        numpy.testing.assert_array_equal(found[made.width], made_width)
        numpy.testing.assert_array_equal(found[made.height], made_height)
        numpy.testing.assert_array_equal(found[made.left], rounded((WIDTH - made_width) / 2))
        numpy.testing.assert_array_equal(found[made.top], rounded((HEIGHT - made_height) / 2))
