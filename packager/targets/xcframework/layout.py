"""Contents of an .xcframework according to its Info.plist."""

import plistlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any
from xml.parsers.expat import ExpatError

from packager.core import user_files
from packager.core.errors import ToolError

PLIST = "Info.plist"
MAX_PLIST_BYTES = 1 << 20
FRAMEWORK = ".framework"
REMEDY = "make it with xcodebuild -create-xcframework"
VERSION = re.compile(r"\d+(\.\d+){0,2}")


@dataclass(frozen=True, kw_only=True)
class Slice:
    """The library for one platform, as Info.plist describes it."""

    identifier: str
    """`ios-arm64_x86_64-simulator`, also the name of its folder"""
    platform: str
    """`ios`"""
    variant: str
    """`simulator`, `maccatalyst` or empty"""
    architectures: tuple[str, ...]
    """sorted"""
    folder: Path
    library: PurePosixPath
    """path in `folder`: `onnxruntime.framework` or `libonnxruntime.a`"""
    named_binary: PurePosixPath | None
    """BinaryPath; None in an Info.plist of Xcode 14 or earlier"""
    headers: PurePosixPath | None
    symbols: PurePosixPath | None
    """folder of debug symbols"""

    @property
    def is_framework(self) -> bool:
        return self.library.suffix == FRAMEWORK

    @property
    def is_desktop(self) -> bool:
        """Whether it is for macOS or Catalyst, whose frameworks contain versions, with Info.plist in another place."""
        return self.platform == "macos" or self.variant == "maccatalyst"

    @property
    def is_phone(self) -> bool:
        """Whether it is for iPhones, not for a simulator."""
        return self.platform == "ios" and not self.variant

    @property
    def bundle(self) -> Path:
        """The framework's folder, or the library file."""
        return self.folder / self.library

    @property
    def binary(self) -> Path:
        if not self.is_framework:
            return self.bundle
        inside = PurePosixPath("Versions/A", self.library.stem) if self.is_desktop else PurePosixPath(self.library.stem)
        return self.folder / self.named_binary if self.named_binary else self.bundle / inside


def slices(root: Path) -> tuple[Slice, ...]:
    """The slices in Info.plist, in its order. Raises ToolError for an Info.plist that Xcode cannot read."""
    document = read_plist(root / PLIST)
    entries = document.get("AvailableLibraries")
    if not isinstance(entries, list) or not entries:
        raise ToolError(f"{root.name}: its Info.plist lists no AvailableLibraries", hint=REMEDY)
    return tuple(_slice(root, entry) for entry in entries)


def read_plist(path: Path) -> dict[str, Any]:
    """The dictionary in a property list. Raises ToolError if it is missing, too large, or not a dictionary."""
    try:
        document = plistlib.loads(user_files.read(path, limit_bytes=MAX_PLIST_BYTES))
    except OSError as error:
        raise ToolError(f"{path}: {error.strerror}", hint=REMEDY) from error
    except (plistlib.InvalidFileException, ExpatError, ValueError, OverflowError, RecursionError) as error:
        raise ToolError(f"{path}: not a property list ({error})", hint=REMEDY) from error
    if not isinstance(document, dict):
        raise ToolError(f"{path}: not a dictionary", hint=REMEDY)
    return document


def _slice(root: Path, entry: object) -> Slice:
    if not isinstance(entry, dict):
        raise ToolError(f"{root.name}: an entry of AvailableLibraries is not a dictionary", hint=REMEDY)
    identifier = _path(root, entry, "LibraryIdentifier")
    library, platform = _path(root, entry, "LibraryPath"), entry.get("SupportedPlatform")
    architectures = entry.get("SupportedArchitectures")
    if not identifier or not library or not isinstance(platform, str) or not isinstance(architectures, list):
        raise ToolError(
            f"{root.name}: an entry of AvailableLibraries lacks LibraryIdentifier, LibraryPath, SupportedPlatform or "
            "SupportedArchitectures",
            hint=REMEDY,
        )
    folder = root / identifier
    headers, symbols = _path(root, entry, "HeadersPath"), _path(root, entry, "DebugSymbolsPath")
    return Slice(
        identifier=str(identifier),
        platform=platform,
        variant=str(entry.get("SupportedPlatformVariant", "")),
        architectures=tuple(sorted(map(str, architectures))),
        folder=folder,
        library=library,
        named_binary=_path(root, entry, "BinaryPath"),
        headers=headers,
        symbols=symbols,
    )


def _path(root: Path, entry: Mapping[str, object], key: str) -> PurePosixPath | None:
    """The path at `key`. Raises ToolError for one that leads out of the .xcframework."""
    value = entry.get(key)
    if value is None:
        return None
    path = PurePosixPath(str(value))
    if not isinstance(value, str) or path.is_absolute() or ".." in path.parts or "\0" in value or not path.parts:
        raise ToolError(f"{root.name}: {key} {value!r} in its Info.plist is not a path inside it", hint=REMEDY)
    return path


def version_key(text: str) -> tuple[int, ...]:
    """`15.1` -> (15, 1, 0), for comparison. Raises ValueError for an invalid version."""
    if not VERSION.fullmatch(text):
        raise ValueError(f"{text!r} is not a version")
    parts = tuple(int(part) for part in text.split("."))
    return parts + (0,) * (3 - len(parts))
