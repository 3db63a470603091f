"""arm64: ONNX Runtime for arm64 Linux, on an emulated processor unless the machine is arm64.

ONNX Runtime's optimizers ask which kernels the processor has. On x86_64 there are none for float16, so a float16 model
becomes float32; on an arm64 processor with the half-precision extension it stays float16. Nothing here needs root:
Debian's packages are extracted to a folder, from which qemu runs their Python.
"""

import os
import platform
import shutil
import sys
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

from packager.core.errors import ToolError
from packager.engines.environments.debian import QEMU, unpack_deb, unpack_qemu
from packager.engines.environments.environment import folder_for, make_once, not_installed
from packager.files.processes import commands, downloads
from packager.files.processes.inherited import MODELS

DEBIAN = (
    "arm64-libbz2-1-0",
    "arm64-libc6",
    "arm64-libexpat1",
    "arm64-libffi8",
    "arm64-libgcc-s1",
    "arm64-liblzma5",
    "arm64-libpython3-11-minimal",
    "arm64-libpython3-11-stdlib",
    "arm64-libstdcxx6",
    "arm64-python3-11-minimal",
    "arm64-zlib1g",
)
NUMPY = "arm64-numpy"
RUNTIMES = {"converter": "arm64-onnxruntime-converter", "shipped": "arm64-onnxruntime-shipped"}
LIBRARY_FOLDERS = ("lib/aarch64-linux-gnu", "usr/lib/aarch64-linux-gnu")
LOADER = "lib/ld-linux-aarch64.so.1"


@dataclass(frozen=True, kw_only=True)
class Arm64:
    """Python and ONNX Runtime for arm64 Linux."""

    NAME: ClassVar[str] = "arm64"

    runtime: Literal["converter", "shipped"] = "converter"
    """which ONNX Runtime: the converter's version, or the one that packages depend on"""
    cpu: str = "cortex-a76"
    """qemu's name of the processor. The cortex-a53, for example, has no float16 arithmetic, so that models converted on
    it have casts to float32; an arm64 machine uses its own processor instead"""

    about: ClassVar[str] = "ONNX Runtime on an emulated arm64 processor: float16 models that stay float16"

    def unsupported(self) -> str:
        """Why this machine cannot support it, or empty."""
        if sys.platform != "linux":
            return "qemu runs arm64 Linux programs on Linux only"
        if platform.machine() not in ("x86_64", "aarch64"):
            return f"neither an x86_64 nor an arm64 processor: {platform.machine()}"
        if not shutil.which("apt-get"):
            return "its parts come with apt-get, which is found on Debian and systems made from it"
        return ""

    def missing(self) -> str:
        """Why it cannot be used yet, or empty."""
        return self.unsupported() or not_installed(self.NAME, _folder())

    def install(self) -> None:
        """Downloads and extracts all parts and runs a test, in about a minute. Raises ToolError on failure."""
        if reason := self.unsupported():
            raise ToolError(f"the environment arm64 cannot be installed: {reason}")
        make_once(_folder(), self._install)

    def command(self) -> tuple[str, ...]:
        """Command that runs a Python program: append its path and arguments."""
        return _command(_folder(), self.cpu)

    def emulator(self) -> tuple[str, ...]:
        """Command that runs any arm64 program on an emulated processor: append its path and arguments."""
        return _emulator(_folder(), self.cpu)

    def variables(self) -> Mapping[str, str]:
        return _variables(_folder(), self.runtime)

    def _install(self, folder: Path) -> None:
        _unpack_all(folder)
        # The test import also compiles to bytecode, while the folder may still change.
        for runtime in RUNTIMES:
            commands.run(
                [*_command(folder, self.cpu), "-c", "import numpy, onnxruntime"],
                what="trying out ONNX Runtime for arm64",
                inherits=MODELS,
                environment={**_variables(folder, runtime), "PYTHONDONTWRITEBYTECODE": ""},
                hint="run `mobpack doctor --install arm64` again; if it fails again, report it",
            )


def _folder() -> Path:
    names = (*DEBIAN, NUMPY, *RUNTIMES.values(), *(() if is_native() else (QEMU,)))
    return folder_for("arm64", [downloads.pin(name).sha256 for name in names])


def is_native() -> bool:
    """Whether this machine is arm64, so that nothing is emulated."""
    return platform.machine() == "aarch64"


def _command(folder: Path, cpu: str) -> tuple[str, ...]:
    root = folder / "root"
    python = str(root / "usr" / "bin" / "python3.11")
    if is_native():
        # Debian's own loader and C library: those of the machine may be older than its Python.
        libraries = os.pathsep.join(str(root / part) for part in LIBRARY_FOLDERS)
        return (str(root / LOADER), "--library-path", libraries, python, "-P")
    return (*_emulator(folder, cpu), python, "-P")


def _emulator(folder: Path, cpu: str) -> tuple[str, ...]:
    return (str(folder / "qemu-aarch64"), "-cpu", cpu, "-L", str(folder / "root"))


def _variables(folder: Path, runtime: str) -> Mapping[str, str]:
    return {
        "PYTHONHOME": str(folder / "root" / "usr"),
        "PYTHONPATH": os.pathsep.join([str(folder / "numpy"), str(folder / runtime)]),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONNOUSERSITE": "1",
    }


def _unpack_all(folder: Path) -> None:
    for name in DEBIAN:
        unpack_deb(downloads.fetch(name), folder / "root", lambda path: "doc" not in path.parts)
    if not is_native():
        unpack_qemu("aarch64", folder)
    for name, part in ((NUMPY, "numpy"), *((pin, runtime) for runtime, pin in RUNTIMES.items())):
        with zipfile.ZipFile(downloads.fetch(name)) as wheel:
            for member in wheel.namelist():
                wheel.extract(member, folder / part)
