"""Swift package archives with signed manifests (SE-0391): SwiftPM refuses a signed archive without them."""

import base64
import re
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path, PurePosixPath

from packager.distribution.publishing.cms import FORMAT
from packager.files.zips import Content, ZipLink, unpack, write_zip

MANIFEST = re.compile(r"Package(@swift-[\d.]+)?\.swift")
LINE = f"\n// signature: {FORMAT};".encode()


def sign_manifests(archive: Path, folder: Path, sign: Callable[[bytes], bytes]) -> Path:
    """Writes the archive to `folder` with a line at the end of each manifest that has the signature of what is before,
    and the file that describes the archive beside it. Returns its path."""
    files = folder / "files"
    files.mkdir()
    unpack(archive, files)
    for path in sorted(files.iterdir()):
        if MANIFEST.fullmatch(path.name):
            content = path.read_bytes()
            path.write_bytes(content + LINE + base64.b64encode(sign(content)))
    with zipfile.ZipFile(archive) as opened:
        home = PurePosixPath(opened.namelist()[0]).parts[0]
    entries = {home / path.relative_to(files): _content(path) for path in files.rglob("*") if _is_entry(path)}
    described = archive.with_suffix(".json")
    if described.is_file():
        shutil.copyfile(described, folder / described.name)
    return write_zip(folder / archive.name, {PurePosixPath(name): content for name, content in entries.items()})


def is_same_but_for_signatures(one: Path, other: Path) -> bool:
    """Whether two archives have the same files: signatures differ each time. Raises the errors of zipfile."""
    with zipfile.ZipFile(one) as first, zipfile.ZipFile(other) as second:
        names = first.namelist()
        return sorted(names) == sorted(second.namelist()) and all(
            _unsigned(name, first.read(name)) == _unsigned(name, second.read(name)) for name in names
        )


def _unsigned(name: str, content: bytes) -> bytes:
    is_manifest = MANIFEST.fullmatch(PurePosixPath(name).name) is not None
    return content.rpartition(LINE)[0] if is_manifest and LINE in content else content


def _is_entry(path: Path) -> bool:
    return path.is_symlink() or path.is_file()


def _content(path: Path) -> Content:
    return ZipLink(path.readlink().as_posix()) if path.is_symlink() else path
