"""x86_64: this machine's Python on an emulated older x86_64 processor, with the ONNX Runtime that ships.

ONNX Runtime computes 8-bit numbers differently on processors with AVX2 only (Intel before 2019, the Android emulator on
them, many CI machines) than on those with VNNI, and test machines usually have VNNI.
"""

import platform
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from packager.core.errors import ToolError
from packager.engines.environments.debian import QEMU, unpack_qemu
from packager.engines.environments.environment import folder_for, make_once, not_installed
from packager.engines.environments.runtime import Runtime
from packager.files.processes import commands, downloads
from packager.files.processes.inherited import MODELS


@dataclass(frozen=True, kw_only=True)
class OlderX86:
    """The environment `runtime` under qemu-x86_64."""

    NAME: ClassVar[str] = "x86_64"
    about: ClassVar[str] = "the ONNX Runtime that apps get on an emulated x86_64 processor with AVX2 and no VNNI"

    cpu: str = "Haswell-noTSX"
    """qemu's name of the processor; one with TSX would cause a warning on every start"""

    def unsupported(self) -> str:
        if sys.platform != "linux" or platform.machine() != "x86_64":
            return f"it emulates x86_64 on Linux on x86_64 only; this is {sys.platform} on {platform.machine()}"
        if not shutil.which("apt-get"):
            return "qemu comes with apt-get, which is found on Debian and systems made from it"
        return ""

    def missing(self) -> str:
        return self.unsupported() or not_installed(self.NAME, _folder()) or Runtime().missing()

    def install(self) -> None:
        if reason := self.unsupported():
            raise ToolError(f"the environment x86_64 cannot be installed: {reason}")
        Runtime().install()
        make_once(_folder(), self._install)

    def command(self) -> tuple[str, ...]:
        return self._command(_folder())

    def emulator(self) -> tuple[str, ...]:
        """Command that runs any program: append its path and arguments."""
        return self._emulator(_folder())

    def variables(self) -> Mapping[str, str]:
        return Runtime().variables()

    def _command(self, folder: Path) -> tuple[str, ...]:
        return (*self._emulator(folder), *Runtime().command())

    def _emulator(self, folder: Path) -> tuple[str, ...]:
        return (str(folder / "qemu-x86_64"), "-cpu", self.cpu)

    def _install(self, folder: Path) -> None:
        unpack_qemu("x86_64", folder)
        commands.run(
            [*self._command(folder), "-c", "import numpy, onnxruntime"],
            what="trying out ONNX Runtime on an emulated x86_64 processor",
            inherits=MODELS,
            environment=self.variables(),
            hint="run `mobpack doctor --install x86_64` again; if it fails again, report it",
        )


def _folder() -> Path:
    return folder_for(OlderX86.NAME, [downloads.pin(QEMU).sha256])
