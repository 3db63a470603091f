"""Waiting for what no event tells of."""

import time
from collections.abc import Callable

HANGS_S = 600.0
"""A program that takes longer hangs, however busy the machine is."""


def until(is_so: Callable[[], object], why: Callable[[], object] = str) -> bool:
    """Waits until something is so; fails with the words of `why` where it never is."""
    end = time.monotonic() + HANGS_S
    while not is_so():
        assert time.monotonic() < end, why()
        time.sleep(0.02)
    return True
