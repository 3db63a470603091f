"""The C compiler zig, for every processor: what packages have in C, and stand-ins of Android's system libraries."""

import platform
import sys
import zipfile
from pathlib import Path

from packager.core.console import Console
from packager.core.errors import ToolError
from packager.engines.environments.environment import folder_for, make_once
from packager.files.processes import downloads

PINS = {
    ("linux", "x86_64"): "android-zig",
    ("linux", "aarch64"): "zig-linux-arm64",
    ("darwin", "arm64"): "zig-macos-arm64",
    ("darwin", "x86_64"): "zig-macos-x86-64",
    ("win32", "AMD64"): "zig-windows-x86-64",
    ("win32", "ARM64"): "zig-windows-arm64",
}
"""Python's names of a system and a processor -> the compiler for it, by its key in pins.toml."""

VARIABLES = ("ZIG_GLOBAL_CACHE_DIR", "ZIG_LOCAL_CACHE_DIR")
"""Variables of the compiler."""


def compiler() -> Path:
    """The compiler, downloaded and extracted to the cache on first use. Raises ToolError if it cannot be fetched."""
    folder = _folder()
    if not folder.is_dir():
        Console().say(f"  fetching zig {version()}, once: a C compiler (100 MB), to ask which provider took which node")
        make_once(folder, _unpack)
    return _program(folder)


def installed() -> str:
    """Version of the compiler in the cache; empty if it is not there."""
    return version() if (sys.platform, platform.machine()) in PINS and _folder().is_dir() else ""


def version() -> str:
    """`0.17.0`, on every machine."""
    return downloads.pin(PINS["linux", "x86_64"]).package.partition("==")[2]


def _pin() -> str:
    machine = sys.platform, platform.machine()
    if machine not in PINS:
        raise ToolError(
            f"there is no C compiler for {machine[0]} on {machine[1]}",
            hint="leave out the providers (`providers = []` in [target.android]), or build on another machine",
        )
    return PINS[machine]


def _folder() -> Path:
    return folder_for("zig", downloads.pin(_pin()).sha256)


def _program(folder: Path) -> Path:
    return folder / "ziglang" / ("zig.exe" if sys.platform == "win32" else "zig")


def _unpack(folder: Path) -> None:
    with zipfile.ZipFile(downloads.fetch(_pin())) as archive:
        archive.extractall(folder)
    _program(folder).chmod(0o755)  # extracting a .zip loses permissions
