"""An .xcframework as a folder, out of the .zip it may come in: nothing lands outside, nothing grows without bound."""

import hashlib
import shutil
import stat
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from packager.core.errors import ConfigError, ToolError
from packager.core.user_files import opened as opened_file
from packager.files.zips import DAMAGE, RUNTIME, opened_zip

SUFFIX = ".xcframework"
MAX_FILES = 20_000
MAX_BYTES = 4 << 30
"""of what a .zip unpacks to; ONNX Runtime's three slices are 250 MB"""
MAX_LINK_BYTES = 1024
PIECE_BYTES = 1 << 20


@contextmanager
def opened(path: Path) -> Iterator[Path]:
    """The .xcframework folder that `path` is or holds, as a folder or a .zip; what is unpacked is gone afterwards.

    Raises ConfigError where there is none, or more than one, and ToolError for a .zip that cannot be trusted.
    """
    if not path.is_file():
        yield only(path)
        return
    with tempfile.TemporaryDirectory() as scratch:
        unpack(path, Path(scratch))
        yield only(Path(scratch))


def only(path: Path) -> Path:
    """`path` itself, or the one .xcframework in that folder. Raises ConfigError unless there is one."""
    if not path.is_dir():
        raise ConfigError(f"{path}: no such file or folder", hint="give an .xcframework, or a .zip with one")
    if path.suffix == SUFFIX or (path / "Info.plist").is_file():
        return path
    found = sorted(child for child in path.iterdir() if child.suffix == SUFFIX and child.is_dir())
    if len(found) != 1:
        names = ", ".join(child.name for child in found) or "none"
        raise ConfigError(f"{path}: it should hold one {SUFFIX}, found {names}", hint="name the one that you mean")
    return found[0]


def unpack(path: Path, folder: Path) -> None:
    """Writes the .xcframework in the .zip `path` to `folder`, with its links.

    Raises ToolError for a .zip that is damaged, too large, or names a place outside itself.
    """
    try:
        with opened_file(path) as file, opened_zip(file, RUNTIME) as archive:
            entries = _entries(path, archive)
            links = [each for each in entries if _is_link(entries[each])]
            for name in entries:
                if name not in links:
                    _write(archive, entries[name], folder / name)
            # After the files: nothing is ever written through a link.
            for name in links:
                _link(path, archive, entries[name], name, folder)
    except ToolError:
        raise
    except DAMAGE as error:
        raise ToolError(
            f"{path}: not a .zip, or cut short ({error})", hint="make it with ditto or zip -y, or download it again"
        ) from error


def _entries(path: Path, archive: zipfile.ZipFile) -> dict[PurePosixPath, zipfile.ZipInfo]:
    """The files below the one .xcframework, by their path from the folder that holds it."""
    files = [info for info in archive.infolist() if not info.is_dir() and not _is_finders(info.filename)]
    if len(files) > MAX_FILES or sum(info.file_size for info in files) > MAX_BYTES:
        raise ToolError(
            f"{path}: it unpacks to {len(files)} files, {sum(info.file_size for info in files)} bytes",
            hint=f"an {SUFFIX} with at most {MAX_FILES} files and {MAX_BYTES} bytes is read",
        )
    roots, entries = set[PurePosixPath](), dict[PurePosixPath, zipfile.ZipInfo]()
    for info in files:
        name = PurePosixPath(info.filename)
        if name.is_absolute() or ".." in name.parts or "\\" in info.filename or "\0" in info.orig_filename:
            raise ToolError(f"{path}: it holds the path {info.filename!r}", hint="do not use it: that leads outside")
        depth = next((index for index, part in enumerate(name.parts) if part.endswith(SUFFIX)), None)
        if depth is None:
            continue
        roots.add(PurePosixPath(*name.parts[: depth + 1]))
        below = PurePosixPath(*name.parts[depth:])
        if below in entries:
            raise ToolError(f"{path}: it holds {below} twice", hint="make the .zip again")
        entries[below] = info
    if len(roots) != 1:
        found = ", ".join(sorted(map(str, roots))) or "none"
        raise ToolError(
            f"{path}: it should hold one {SUFFIX}, found {found}", hint="unpack it and name the one you mean"
        )
    return entries


def _is_finders(name: str) -> bool:
    """What macOS adds to every .zip that its Finder makes."""
    return name.startswith("__MACOSX/") or PurePosixPath(name).name in (".DS_Store",)


def _is_link(info: zipfile.ZipInfo) -> bool:
    return stat.S_ISLNK(info.external_attr >> 16)


def _write(archive: zipfile.ZipFile, info: zipfile.ZipInfo, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with archive.open(info) as source, path.open("xb") as file:
        shutil.copyfileobj(source, file, PIECE_BYTES)


def _link(path: Path, archive: zipfile.ZipFile, info: zipfile.ZipInfo, name: PurePosixPath, folder: Path) -> None:
    if info.file_size > MAX_LINK_BYTES:
        raise ToolError(f"{path}: the link {name} is {info.file_size} bytes long", hint="make the .zip again")
    target = archive.read(info).decode("utf-8")
    place = folder / name
    root = (folder / name.parts[0]).resolve()
    if target.startswith("/") or not _end_of(place.parent.resolve() / target).is_relative_to(root):
        raise ToolError(f"{path}: the link {name} leads to {target!r}", hint="do not use it: that is outside")
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(target)


def refuse_outside(root: Path) -> None:
    """Raises ToolError for a link in the folder `root` that leads out of it or in circles, and for pipes and devices,
    which nobody can read to their end."""
    for path in sorted(root.rglob("*")):
        if path.is_symlink():
            if not _end_of(path).is_relative_to(root.resolve()):
                raise ToolError(f"{path}: a link that leads out of {root.name}", hint="replace it with what is there")
        elif not path.is_file() and not path.is_dir():
            raise ToolError(f"{path}: neither a file nor a folder", hint="take it out")


def _end_of(path: Path) -> Path:
    """Where the links at `path` lead. Raises ToolError when they lead in circles."""
    try:
        return path.resolve()
    except (OSError, RuntimeError) as error:
        raise ToolError(f"{path}: a link that leads to itself", hint="take it out, or make it again") from error


def digest(root: Path) -> str:
    """sha256 of the names, links and contents below `root`; the same wherever the folder lies."""
    total = hashlib.sha256()
    for path in sorted(root.rglob("*"), key=lambda each: each.relative_to(root).as_posix()):
        name = path.relative_to(root).as_posix()
        if path.is_symlink():
            total.update(f"link {name}\n{path.readlink().as_posix()}\n".encode())
        elif path.is_file() and path.name != ".DS_Store":
            with path.open("rb") as file:
                total.update(f"file {name}\n{hashlib.file_digest(file, 'sha256').hexdigest()}\n".encode())
    return total.hexdigest()
