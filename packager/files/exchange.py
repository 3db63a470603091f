"""Swaps two folders in one atomic step, where the system can: no observer ever sees either path missing."""

import ctypes
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

AT_FDCWD = -100
RENAME_EXCHANGE = 2
"""linux/fs.h, since Linux 3.15"""
RENAME_SWAP = 2
"""sys/stdio.h of macOS, since 10.12"""


def exchange(one: Path, other: Path) -> bool:
    """Swaps two paths; returns whether it did. False if the system or the disk has no such operation; any other problem
    will surface when the caller renames them one after the other."""
    if sys.platform == "win32":
        return False
    swap = native(sys.platform, ctypes.CDLL(None))
    return swap is not None and swap(os.fsencode(one), os.fsencode(other)) == 0


def native(platform: str, library: Any) -> Callable[[bytes, bytes], int] | None:
    """Function of the C library of `platform` that swaps two paths: returns 0 on success."""
    if platform == "linux" and hasattr(library, "renameat2"):
        return lambda one, other: int(library.renameat2(AT_FDCWD, one, AT_FDCWD, other, RENAME_EXCHANGE))
    if platform == "darwin" and hasattr(library, "renamex_np"):
        return lambda one, other: int(library.renamex_np(one, other, RENAME_SWAP))
    return None
