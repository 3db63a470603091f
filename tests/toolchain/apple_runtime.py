"""ONNX Runtime for Apple's systems as it is published: half a gigabyte, unpacked once and kept in the user's cache."""

import tarfile
from pathlib import Path, PurePosixPath

from tests.toolchain.kept import kept
from tests.toolchain.require import fetched

NAME = "onnxruntime.xcframework"
IN_PACKAGE = f"/iOS~/{NAME}/"


def published() -> Path:
    """The .xcframework. Nobody may write to it or beside it."""
    package = fetched("onnxruntime-binaries")  # named by its SHA-256

    def unpack(folder: Path) -> None:
        with tarfile.open(package, "r|gz") as archive:  # as a stream, or it would be decompressed twice
            archive.extraction_filter = getattr(tarfile, "data_filter", None)  # the argument is missing before 3.11.4
            for member in archive:
                if IN_PACKAGE in member.name:
                    member.name = str(PurePosixPath(NAME, member.name.split(IN_PACKAGE)[1]))
                    archive.extract(member, folder)

    return kept("onnxruntime-apple", unpack, package.name) / NAME
