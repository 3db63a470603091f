"""Models that a project of this user encrypts: nothing of them is sent, wherever a command finds them.

They are known by size and SHA-256, which every command of such a project leaves in the user's cache.
"""

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from packager.files.hashes import known_sha256
from packager.files.user_cache import cache_folder

if TYPE_CHECKING:
    from packager.config import Config

FOLDER = "private"
"""In the user's cache: an empty file `SIZE-SHA256` for each model."""


def is_private(config: "Config") -> bool:
    """Whether `config` encrypts its models, which are remembered, or has one that another project does."""
    tables = config.model.values()
    files = [each for table in tables for each in (table.path, table.encoder, table.with_past) if each]
    if config.is_private:
        remember(files)
        return True
    return any(map(is_known, files))


def remember(files: Iterable[Path]) -> None:
    folder = cache_folder() / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    for each in files:
        if each.is_file():
            (folder / f"{each.stat().st_size}-{known_sha256(each)}").touch()


def is_known(file: Path) -> bool:
    """Whether a project encrypts `file`, which is read if one encrypts a file of its size."""
    folder = cache_folder() / FOLDER
    with suppress(OSError):  # its own command says what is wrong with the file
        size_bytes = file.stat().st_size
        if file.is_file() and any(folder.glob(f"{size_bytes}-*")):
            return (folder / f"{size_bytes}-{known_sha256(file)}").exists()
    return False
