"""in-toto's digest `dirHash`: one hash for many files."""

import hashlib
from collections.abc import Mapping
from pathlib import Path

from packager.files.hashes import known_sha256


def dir_hash(files: Mapping[str, Path]) -> str:
    """The `dirHash` of `files`, which maps paths in a folder to files: hex sha256 of the output of sha256sum for the
    sorted paths.

    It is defined at github.com/in-toto/attestation/blob/main/spec/v1/digest_set.md.
    """
    lines = [f"{known_sha256(files[name])}  {name}\n" for name in sorted(files, key=str.encode)]
    return hashlib.sha256("".join(lines).encode()).hexdigest()
