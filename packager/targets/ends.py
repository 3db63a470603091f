"""The first and last blocks of a file: generated code compares them at every load, the whole file only once."""

import hashlib
from pathlib import Path

BLOCK_BYTES = 64 * 1024
"""Of each of the two blocks; the templates have the same number."""


def ends_sha256(file: Path) -> str:
    """Lower-case hex sha256 of the first and the last block of a file, or of all of one that has no more."""
    with file.open("rb") as opened:
        size = opened.seek(0, 2)
        opened.seek(0)
        digest = hashlib.sha256(opened.read(BLOCK_BYTES))
        opened.seek(max(BLOCK_BYTES, size - BLOCK_BYTES))
        digest.update(opened.read(BLOCK_BYTES))
    return digest.hexdigest()
