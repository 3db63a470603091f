"""Extracts Debian packages, including qemu, to folders; nothing here needs root."""

import itertools
import shutil
import tarfile
import tempfile
from collections.abc import Callable
from pathlib import Path, PurePosixPath

from packager.files.processes import children, downloads

QEMU = "arm64-qemu"
"""pin of the package with qemu's programs for arm64 and x86_64"""


def unpack_qemu(processor: str, folder: Path) -> None:
    """Puts the program `qemu-PROCESSOR` into `folder`."""
    program = f"qemu-{processor}"
    unpack_deb(downloads.fetch(QEMU), folder / "qemu", lambda path: path.name == program, files=1)
    (folder / "qemu" / "usr" / "bin" / program).rename(folder / program)
    shutil.rmtree(folder / "qemu")


def unpack_deb(
    deb: Path, folder: Path, is_wanted: Callable[[PurePosixPath], bool], *, files: int | None = None
) -> None:
    """Writes the wanted files of a Debian package: a single program of qemu's 370 MB.

    Ends after so many `files`, if given: what follows is not even decompressed.
    """
    with tempfile.TemporaryDirectory() as scratch:
        unpacking = children.start(
            ["dpkg-deb", "--fsys-tarfile", deb.absolute()], Path(scratch), stderr=None, is_text=False
        )
        try:
            assert unpacking.stdout
            with unpacking.stdout, tarfile.open(fileobj=unpacking.stdout, mode="r|") as archive:
                # Python 3.12 and 3.13 need the argument, 3.11.3 and older do not support it (PEP 706).
                archive.extraction_filter = getattr(tarfile, "tar_filter", None)
                wanted = (each for each in archive if not each.isdir() and is_wanted(PurePosixPath(each.name)))
                for member in itertools.islice(wanted, files):
                    archive.extract(member, folder)
        finally:
            children.end(unpacking)  # it may wait for a reader of the rest of the archive
