"""Converts the static frameworks of an .xcframework to static libraries: .a files, which apps link and do not embed.

Xcode copies every .framework of a Swift package into the app, a static one with a stub in place of its code, and the
App Store rejects apps with such a stub: github.com/microsoft/onnxruntime/issues/27396.
"""

import json
import plistlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal

from packager.core.errors import ConfigError, ToolError, nearest
from packager.files import host
from packager.files.replaced_folder import FolderKind, replaced
from packager.targets.xcframework import folder
from packager.targets.xcframework.layout import PLIST, Slice, read_plist, slices
from packager.targets.xcframework.macho import Code, read
from packager.targets.xcframework.manifest import manifest_path

NAME = "onnxruntime"
"""Name of the library. All packages use the same name, so that two of them in one app fail to link, instead of running
one package's models on a runtime reduced for the other's."""
MARK = "mobpack.json"
KIND = FolderKind(words="an .xcframework that mobpack made", mark=MARK, option="--out")
PIECE_BYTES = 1 << 20
ALLOWED_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_+.-]*")


@dataclass(frozen=True, kw_only=True)
class Library:
    """The result for one slice."""

    identifier: str
    """`ios-arm64`"""
    was: PurePosixPath
    """`onnxruntime.framework`"""
    path: PurePosixPath
    """`libonnxruntime.a`; the framework itself if it is dynamic: apps must embed it"""
    linkage: Literal["static", "dynamic"]
    architectures: tuple[str, ...]
    is_thinned: bool
    """whether a fat file with a single architecture became a plain one"""
    size_bytes: int


@dataclass(frozen=True, kw_only=True)
class Repackaged:
    root: Path
    libraries: tuple[Library, ...]
    """by identifier"""
    left_out: tuple[str, ...]
    """slices for platforms that were not requested"""


def library_format(source: Path, out: Path, *, name: str = NAME, platforms: Sequence[str] = ()) -> Repackaged:
    """Writes the .xcframework folder `source` to the folder `out`, with `lib<name>.a` instead of static frameworks.

    Dynamic frameworks stay unchanged. `platforms` are those to keep, such as `ios` or `ios-simulator`; all if empty.
    `out` is replaced as a whole, or stays unchanged on failure. Raises ConfigError for an invalid name or platform, and
    for an `out` that mobpack did not write; ToolError for unusable libraries, or if `out` cannot be written.
    """
    if not ALLOWED_NAME.fullmatch(name):
        raise ConfigError(f"'{name}' is not a valid library name", hint="use letters, digits and hyphens: onnxruntime")
    folder.refuse_outside(source)
    listed = slices(source)
    _refuse_doubles(listed)
    chosen = _choose(listed, platforms)
    with replaced(out, KIND) as staging:
        made = tuple(_repackage(each, staging / each.identifier, name) for each in chosen)
        _write_notices(source, staging)
        (staging / PLIST).write_bytes(_plist(source, chosen, made))
        (staging / MARK).write_text(_mark(source), encoding="utf-8", newline="\n")
    left_out = sorted({each.identifier for each in listed} - {each.identifier for each in chosen})
    return Repackaged(root=out, libraries=made, left_out=tuple(left_out))


def _refuse_doubles(listed: Sequence[Slice]) -> None:
    names = [each.identifier for each in listed]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ToolError(f"its Info.plist lists {twice[0]} twice", hint="create it with xcodebuild -create-xcframework")


def _choose(listed: Sequence[Slice], platforms: Sequence[str]) -> tuple[Slice, ...]:
    known = sorted({_platform(each) for each in listed})
    for platform in platforms:
        if platform not in known:
            raise ConfigError(
                f"the .xcframework has no slice for the platform '{platform}'", hint=nearest(platform, known)
            )
    chosen = [each for each in listed if not platforms or _platform(each) in platforms]
    return tuple(sorted(chosen, key=lambda each: each.identifier))


def _platform(each: Slice) -> str:
    return "-".join(filter(None, [each.platform, each.variant]))


def _repackage(each: Slice, home: Path, name: str) -> Library:
    """Fills the folder `home` with the result for a slice."""
    pieces = read(each.binary)
    kinds = sorted({piece.kind for piece in pieces})
    if kinds == ["dynamic"]:
        _copy_folder(each.folder, home)
        return _library(each, each.library, pieces, home / each.binary.relative_to(each.folder), is_thinned=False)
    if kinds != ["static"]:
        raise ToolError(
            f"{each.identifier}: the code in {each.library} is {' and '.join(kinds)}, not a static library",
            hint=f"on a Mac, convert it with: libtool -static -o lib{name}.a FILE",
        )
    # A fat file with one architecture needs no header; lipo -thin does the same.
    is_thinned = len(pieces) == 1 and pieces[0].start > 0
    start, size = (pieces[0].start, pieces[0].size_bytes) if is_thinned else (0, each.binary.stat().st_size)
    path = PurePosixPath(f"lib{name}.a")
    _copy(each.binary, home / path, start, size)
    if privacy := manifest_path(each):
        _copy(privacy, home / privacy.name, 0, privacy.stat().st_size)
    if each.symbols:
        _copy_folder(each.folder / each.symbols, home / each.symbols)
    return _library(each, path, pieces, home / path, is_thinned=is_thinned)


def _library(each: Slice, path: PurePosixPath, pieces: Sequence[Code], binary: Path, *, is_thinned: bool) -> Library:
    return Library(
        identifier=each.identifier,
        was=each.library,
        path=path,
        linkage="dynamic" if pieces[0].kind == "dynamic" else "static",
        architectures=tuple(sorted(piece.architecture for piece in pieces)),
        is_thinned=is_thinned,
        size_bytes=binary.stat().st_size,
    )


def _copy(source: Path, destination: Path, start: int, size: int) -> None:
    """Copies `size` bytes of a file, in pieces."""
    destination.parent.mkdir(parents=True, exist_ok=True)
    with source.open("rb") as reading, destination.open("xb") as writing:
        reading.seek(start)
        while size and (piece := reading.read(min(size, PIECE_BYTES))):
            writing.write(piece)
            size -= len(piece)


def _copy_folder(source: Path, destination: Path) -> None:
    """Copies a folder with its links. shutil.copytree would hide a full disk in an error of its own."""
    for path in sorted(source.rglob("*")):
        place = destination / path.relative_to(source)
        place.parent.mkdir(parents=True, exist_ok=True)
        if path.is_symlink():
            host.link(place, path.readlink().as_posix())
        elif path.is_file():
            _copy(path, place, 0, path.stat().st_size)


def _write_notices(source: Path, staging: Path) -> None:
    """Copies licences and similar files beside Info.plist, but not the signature, which is no longer valid."""
    for path in sorted(source.iterdir()):
        if path.is_file() and path.name not in (PLIST, MARK, ".DS_Store"):
            _copy(path, staging / path.name, 0, path.stat().st_size)


def _plist(source: Path, chosen: Sequence[Slice], made: Sequence[Library]) -> bytes:
    document = {
        "AvailableLibraries": list(_entries(source, chosen, made)),
        "CFBundlePackageType": "XFWK",
        "XCFrameworkFormatVersion": "1.0",
    }
    return plistlib.dumps(document, fmt=plistlib.FMT_XML, sort_keys=True)


def _entries(source: Path, chosen: Sequence[Slice], made: Sequence[Library]) -> Iterator[dict[str, object]]:
    known = {entry["LibraryIdentifier"]: entry for entry in read_plist(source / PLIST)["AvailableLibraries"]}
    for each, library in zip(chosen, made, strict=True):
        if library.linkage == "dynamic":
            yield known[each.identifier]
            continue
        # No HeadersPath: Xcode copies the headers of all .xcframeworks of an app into one folder, where two of them
        # collide (github.com/antoniusnaumann/cargo-swift/pull/74), and packages contain the C headers themselves.
        optional = {"SupportedPlatformVariant": each.variant, "DebugSymbolsPath": str(each.symbols or "")}
        yield {
            "BinaryPath": str(library.path),
            "LibraryIdentifier": each.identifier,
            "LibraryPath": str(library.path),
            "SupportedArchitectures": list(library.architectures),
            "SupportedPlatform": each.platform,
            **{key: value for key, value in optional.items() if value},
        }


def _mark(source: Path) -> str:
    """Marker file of the folder, which names its source and allows replacing it."""
    document = {"mobpack": {"made": "library-format", "source-sha256": folder.digest(source)}}
    return json.dumps(document, indent=2) + "\n"
