"""When Python looks for garbage in a process that runs a command."""

import gc
from collections.abc import Mapping

IMPORTED = 100_000
"""Objects before the first search, in place of 700: the modules of a command make as many, and keep them."""


def postpone() -> None:
    """Has the first search wait until IMPORTED objects are there, and no search look at those again."""
    usual = gc.get_threshold()

    def settle(phase: str, _: Mapping[str, int]) -> None:
        if phase == "start":
            gc.callbacks.remove(settle)
            gc.freeze()
            gc.set_threshold(*usual)

    gc.callbacks.append(settle)
    gc.set_threshold(IMPORTED)
