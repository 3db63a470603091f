"""Packs sparse rows into one array, so that their numbers lie in each other's gaps (Tarjan and Yao, 1979)."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy

WINDOW, LARGEST_WINDOW = 2**8, 2**16
"""places that are tried at once: first few, then more"""


def room(is_free: "numpy.ndarray", begin: int, wanted: "numpy.ndarray") -> int:
    """The first base, with places from `begin` on, with which all `wanted` symbols lead to free places.

    `is_free` is bool [places], and ends with free ones: LARGEST_WINDOW and as many as the largest symbol.
    """
    first, size = max(begin, int(wanted[0])), WINDOW
    after = (wanted[1:] - wanted[0]).tolist()
    while True:
        fits = is_free[first : first + size].copy()
        for each in after:
            fits &= is_free[first + each : first + each + size]
        place = int(fits.argmax())
        if fits[place]:
            return first + place - int(wanted[0])
        first, size = first + size, min(2 * size, LARGEST_WINDOW)
