"""Hash of a file's first and last blocks, which generated code checks at every load; it checks the whole file only
once."""

import hashlib
from pathlib import Path

BLOCK_BYTES = 64 * 1024
"""size of each of the two blocks; the templates use the same number"""


def ends_sha256(file: Path) -> str:
    """Lower-case hex sha256 of the first and the last block of a file, or of a whole shorter file."""
    with file.open("rb") as opened:
        size = opened.seek(0, 2)
        opened.seek(0)
        digest = hashlib.sha256(opened.read(BLOCK_BYTES))
        opened.seek(max(BLOCK_BYTES, size - BLOCK_BYTES))
        digest.update(opened.read(BLOCK_BYTES))
    return digest.hexdigest()
