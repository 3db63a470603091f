"""qnn: ONNX Runtime with Qualcomm's provider, on a simulated neural processor on x86_64."""

import ctypes.util
import platform
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from packager.core.errors import ToolError
from packager.engines.environments.environment import (
    folder_for,
    install_locked,
    isolated_command,
    isolated_variables,
    make_once,
    not_installed,
    try_out,
)
from packager.files.processes import commands, downloads

LOCK = Path(__file__).with_name("qnn.txt")
GLIBC = (2, 35)
"""oldest glibc that the wheel supports: its tag is manylinux_2_35"""
OPTIONS = {"backend_type": "htp", "soc_model": "57"}
"""provider options for the simulator. A chip must be named: without one it runs out of memory on some models."""
WORDS = "QNN {plugin} on the HTP simulator"
"""description of the runtime, with the version of the plug-in"""
LIBATOMIC = "qnn-libatomic1"
LIBRARIES = "usr/lib/x86_64-linux-gnu"
TRY = """
import ctypes, onnxruntime, onnxruntime_qnn
from pathlib import Path
ctypes.CDLL(str(Path(onnxruntime_qnn.get_library_path()).with_name("libQnnSystem.so")))
onnxruntime.register_execution_provider_library(onnxruntime_qnn.get_ep_name(), onnxruntime_qnn.get_library_path())
"""


@dataclass(frozen=True, kw_only=True)
class Qnn:
    """onnxruntime and onnxruntime-qnn, under Qualcomm's licence: used for checks, never shipped."""

    NAME: ClassVar[str] = "qnn"
    about: ClassVar[str] = "QNN on a simulated Qualcomm processor (Qualcomm's licence; never shipped; 390 MB)"

    def unsupported(self) -> str:
        if sys.platform != "linux" or platform.machine() != "x86_64":
            return f"Qualcomm's simulator runs on Linux on x86_64 only; this is {sys.platform} on {platform.machine()}"
        if _glibc() < GLIBC:
            return f"Qualcomm's simulator needs glibc {GLIBC[0]}.{GLIBC[1]} or later (Ubuntu 22.04, Debian 12)"
        return ""

    def missing(self) -> str:
        return self.unsupported() or not_installed(self.NAME, _folder())

    def install(self) -> None:
        if reason := self.unsupported():
            raise ToolError(f"the environment qnn cannot be installed: {reason}")
        make_once(_folder(), _make)

    def command(self) -> tuple[str, ...]:
        return isolated_command()

    def variables(self) -> Mapping[str, str]:
        return _variables(_folder())


def _glibc() -> tuple[int, ...]:
    """Version of the running process's glibc; (0,) for another C library."""
    name, version = platform.libc_ver()
    return tuple(int(part) for part in version.split(".")) if name == "glibc" else (0,)


def _folder() -> Path:
    parts = [] if _has_libatomic() else [downloads.pin(LIBATOMIC).sha256]
    return folder_for(Qnn.NAME, [LOCK.read_text(encoding="utf-8"), parts])


def _has_libatomic() -> bool:
    """Debian's smallest systems lack it; Qualcomm's compiler then takes no node, without an error."""
    return ctypes.util.find_library("atomic") is not None


def _variables(folder: Path) -> dict[str, str]:
    return {**isolated_variables(folder / "site"), "LD_LIBRARY_PATH": str(folder / LIBRARIES)}


def _make(folder: Path) -> None:
    install_locked(LOCK, folder / "site")
    if not _has_libatomic():
        commands.run(["dpkg-deb", "--extract", downloads.fetch(LIBATOMIC), folder], what="unpacking libatomic1")
    try_out(Qnn.NAME, TRY, _variables(folder))
