"""Two folders take each other's places in one step, where the system has one: nobody ever sees neither."""

import ctypes
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

AT_FDCWD = -100
RENAME_EXCHANGE = 2
"""linux/fs.h, since 3.15"""
RENAME_SWAP = 2
"""macOS's sys/stdio.h, since 10.12"""


def exchange(one: Path, other: Path) -> bool:
    """Whether both have changed places. They have not where the system, or the disk, cannot in one step; what else is
    wrong, renaming them one after the other says as well."""
    swap = native(sys.platform, ctypes.CDLL(None))
    return swap is not None and swap(os.fsencode(one), os.fsencode(other)) == 0


def native(platform: str, library: Any) -> Callable[[bytes, bytes], int] | None:
    """What the C library of `platform` has for it: returns 0 where it was done."""
    if platform == "linux" and hasattr(library, "renameat2"):
        return lambda one, other: int(library.renameat2(AT_FDCWD, one, AT_FDCWD, other, RENAME_EXCHANGE))
    if platform == "darwin" and hasattr(library, "renamex_np"):
        return lambda one, other: int(library.renamex_np(one, other, RENAME_SWAP))
    return None
