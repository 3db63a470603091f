"""Opens an .xcframework folder or .zip; extraction is confined to its folder and limited in size."""

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
from packager.files import host
from packager.files.zips import DAMAGE, RUNTIME, opened_zip

SUFFIX = ".xcframework"
MAX_FILES = 20_000
MAX_BYTES = 4 << 30
"""limit of extracted bytes; ONNX Runtime's three slices have 250 MB"""
MAX_LINK_BYTES = 1024
PIECE_BYTES = 1 << 20


@contextmanager
def opened(path: Path) -> Iterator[Path]:
    """The .xcframework folder in `path`, a folder or a .zip; extracted files are removed afterwards.

    Raises ConfigError if there is none, or more than one, and ToolError for a .zip that is unsafe.
    """
    if not path.is_file():
        yield only(path)
        return
    with tempfile.TemporaryDirectory() as scratch:
        unpack(path, Path(scratch))
        yield only(Path(scratch))


def only(path: Path) -> Path:
    """`path` itself, or the only .xcframework in that folder. Raises ConfigError unless there is exactly one."""
    if not path.is_dir():
        raise ConfigError(f"{path}: no such file or folder", hint="name an .xcframework, or a .zip with one")
    if path.suffix == SUFFIX or (path / "Info.plist").is_file():
        return path
    found = sorted(child for child in path.iterdir() if child.suffix == SUFFIX and child.is_dir())
    if len(found) != 1:
        names = ", ".join(child.name for child in found) or "none"
        raise ConfigError(f"{path}: expected one {SUFFIX}, found {names}", hint="name one of them")
    return found[0]


def unpack(path: Path, folder: Path) -> None:
    """Extracts the .xcframework in the .zip `path` to `folder`, including links.

    Raises ToolError for a .zip that is damaged, too large, or has paths outside itself.
    """
    try:
        with opened_file(path) as file, opened_zip(file, RUNTIME) as archive:
            entries = _entries(path, archive)
            links = [each for each in entries if _is_link(entries[each])]
            for name in entries:
                if name not in links:
                    _write(archive, entries[name], folder / name)
            # links are created after the files, so that nothing is written through them
            for name in links:
                _link(path, archive, entries[name], name, folder)
    except ToolError:
        raise
    except DAMAGE as error:
        raise ToolError(
            f"{path}: not a .zip, or truncated ({error})", hint="create it with ditto or zip -y, or download it again"
        ) from error


def _entries(path: Path, archive: zipfile.ZipFile) -> dict[PurePosixPath, zipfile.ZipInfo]:
    """The files below the only .xcframework, by their path from its parent folder."""
    files = [info for info in archive.infolist() if not info.is_dir() and not _is_finders(info.filename)]
    if len(files) > MAX_FILES or sum(info.file_size for info in files) > MAX_BYTES:
        raise ToolError(
            f"{path}: it contains {len(files)} files, {sum(info.file_size for info in files)} bytes",
            hint=f"the limits of an {SUFFIX} are {MAX_FILES} files and {MAX_BYTES} bytes",
        )
    roots, entries = set[PurePosixPath](), dict[PurePosixPath, zipfile.ZipInfo]()
    for info in files:
        name = PurePosixPath(info.filename)
        if name.is_absolute() or ".." in name.parts or "\\" in info.filename or "\0" in info.orig_filename:
            raise ToolError(
                f"{path}: it contains the path {info.filename!r}, which leads outside", hint="do not use this .zip"
            )
        depth = next((index for index, part in enumerate(name.parts) if part.endswith(SUFFIX)), None)
        if depth is None:
            continue
        roots.add(PurePosixPath(*name.parts[: depth + 1]))
        below = PurePosixPath(*name.parts[depth:])
        if below in entries:
            raise ToolError(f"{path}: it contains {below} twice", hint="create the .zip again")
        entries[below] = info
    if len(roots) != 1:
        found = ", ".join(sorted(map(str, roots))) or "none"
        raise ToolError(f"{path}: expected one {SUFFIX}, found {found}", hint="extract it and name one of them")
    return entries


def _is_finders(name: str) -> bool:
    """Whether macOS's Finder added the file, as it does to every .zip."""
    return name.startswith("__MACOSX/") or PurePosixPath(name).name in (".DS_Store",)


def _is_link(info: zipfile.ZipInfo) -> bool:
    return stat.S_ISLNK(info.external_attr >> 16)


def _write(archive: zipfile.ZipFile, info: zipfile.ZipInfo, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with archive.open(info) as source, path.open("xb") as file:
        shutil.copyfileobj(source, file, PIECE_BYTES)


def _link(path: Path, archive: zipfile.ZipFile, info: zipfile.ZipInfo, name: PurePosixPath, folder: Path) -> None:
    if info.file_size > MAX_LINK_BYTES:
        raise ToolError(f"{path}: the link {name} is {info.file_size} bytes long", hint="create the .zip again")
    target = archive.read(info).decode("utf-8")
    place = folder / name
    root = (folder / name.parts[0]).resolve()
    if target.startswith("/") or not _end_of(place.parent.resolve() / target).is_relative_to(root):
        raise ToolError(f"{path}: the link {name} leads outside, to {target!r}", hint="do not use this .zip")
    place.parent.mkdir(parents=True, exist_ok=True)
    host.link(place, target)


def refuse_outside(root: Path) -> None:
    """Raises ToolError for a link in the folder `root` that leads out of it or in circles, and for pipes and devices,
    whose reading may never end."""
    for path in sorted(root.rglob("*")):
        if path.is_symlink():
            if not _end_of(path).is_relative_to(root.resolve()):
                raise ToolError(
                    f"{path}: the link leads out of {root.name}", hint="replace it with a copy of its target"
                )
        elif not path.is_file() and not path.is_dir():
            raise ToolError(f"{path}: neither a file nor a folder", hint="remove it")


def _end_of(path: Path) -> Path:
    """Target of the links at `path`. Raises ToolError for a cycle."""
    try:
        return path.resolve()
    except (OSError, RuntimeError) as error:
        raise ToolError(f"{path}: the link leads to itself", hint="remove or replace it") from error


def digest(root: Path) -> str:
    """sha256 of the names, links and contents below `root`, independent of its location."""
    total = hashlib.sha256()
    for path in sorted(root.rglob("*"), key=lambda each: each.relative_to(root).as_posix()):
        name = path.relative_to(root).as_posix()
        if path.is_symlink():
            total.update(f"link {name}\n{path.readlink().as_posix()}\n".encode())
        elif path.is_file() and path.name != ".DS_Store":
            with path.open("rb") as file:
                total.update(f"file {name}\n{hashlib.file_digest(file, 'sha256').hexdigest()}\n".encode())
    return total.hexdigest()
