"""Flips a byte of a file."""

from pathlib import Path


def flip(path: Path) -> None:
    """Change a byte of a file; its size stays."""
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
