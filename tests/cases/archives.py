"""Reads archives for tests."""

import zipfile
from pathlib import Path, PurePosixPath


def read_zip(path: Path) -> dict[PurePosixPath, bytes]:
    """All files of a zip archive by name, without folders. Only for small ones."""
    with zipfile.ZipFile(path) as archive:
        files = (info for info in archive.infolist() if not info.is_dir())
        return {PurePosixPath(info.filename): archive.read(info) for info in files}
