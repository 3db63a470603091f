"""Packs sparse rows into one array, so that their numbers lie in each other's gaps (Tarjan and Yao, 1979)."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy

WINDOW = 256
"""places that are tried at once"""


def room(check: "numpy.ndarray", free: int, wanted: "numpy.ndarray") -> int:
    """The first base, from the free state `free` on, with which all `wanted` symbols lead to free states."""
    import numpy

    after = wanted - wanted[0]
    first = max(free, int(wanted[0]))
    while True:
        states = first + numpy.nonzero(check[first : first + WINDOW] == -1)[0]
        fits = numpy.all(check[states[:, None] + after] == -1, axis=1)
        if fits.any():
            return int(states[numpy.argmax(fits)]) - int(wanted[0])
        first += WINDOW
