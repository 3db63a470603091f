"""A disk so small that it fills up."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def tiny_disk(folder: Path, *, kilobytes: int = 100) -> Iterator[None]:
    """`folder` is a disk of so many `kilobytes` in the block; the test is skipped where none can be made."""
    command = ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", str(folder)]
    may_mount = sys.platform == "linux" and os.geteuid() == 0
    if not may_mount or subprocess.run(command, capture_output=True, check=False).returncode != 0:
        pytest.skip("only root on Linux can make a small disk")
    try:
        yield
    finally:
        subprocess.run(["umount", str(folder)], check=True)
