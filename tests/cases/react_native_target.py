"""Files of an npm package, unpacked."""

import tarfile
from pathlib import Path, PurePosixPath

ROOT = PurePosixPath("package")


def unpacked(archive: Path) -> dict[PurePosixPath, bytes]:
    with tarfile.open(archive) as content:
        members = [(entry, content.extractfile(entry)) for entry in content.getmembers()]
        return {PurePosixPath(entry.name).relative_to(ROOT): read.read() for entry, read in members if read}
