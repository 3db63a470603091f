"""cuda: ONNX Runtime for NVIDIA GPUs, with its CUDA libraries."""

import platform
import re
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

LOCK = Path(__file__).with_name("cuda.txt")
TRY = """
import ctypes, onnxruntime
wanted = {"CUDAExecutionProvider", "TensorrtExecutionProvider"}
assert wanted <= set(onnxruntime.get_available_providers()), onnxruntime.get_available_providers()
for name in ("libcudart.so.13", "libcublasLt.so.13", "libcublas.so.13", "libcurand.so.10", "libcudnn.so.9"):
    ctypes.CDLL(name)
"""
"""test that needs no GPU: the provider's own library is linked with the driver, its dependencies are not"""


@dataclass(frozen=True, kw_only=True)
class Cuda:
    """onnxruntime-gpu, which cannot be installed beside onnxruntime, and NVIDIA's libraries under NVIDIA's licence."""

    NAME: ClassVar[str] = "cuda"
    about: ClassVar[str] = (
        "ONNX Runtime for NVIDIA's GPUs and the CUDA 13 libraries (NVIDIA's licence; never shipped; 2.1 GB)"
    )

    def unsupported(self) -> str:
        if sys.platform != "linux" or platform.machine() != "x86_64":
            return f"used on Linux on x86_64 only; this is {sys.platform} on {platform.machine()}"
        return ""

    def missing(self) -> str:
        return self.unsupported() or not_installed(self.NAME, _folder())

    def install(self) -> None:
        if reason := self.unsupported():
            raise ToolError(f"the environment cuda cannot be installed: {reason}")
        make_once(_folder(), _make)

    def command(self) -> tuple[str, ...]:
        return isolated_command()

    def variables(self) -> Mapping[str, str]:
        return _variables(_folder())


def locked_version() -> str:
    """Locked version of onnxruntime-gpu."""
    found = re.search(r"^onnxruntime-gpu==([\w.]+)", LOCK.read_text(encoding="utf-8"), re.MULTILINE)
    assert found
    return found.group(1)


def _folder() -> Path:
    return folder_for(Cuda.NAME, LOCK.read_text(encoding="utf-8"))


def _variables(site: Path) -> dict[str, str]:
    libraries = f"{site}/nvidia/cu13/lib:{site}/nvidia/cudnn/lib"
    return {**isolated_variables(site), "LD_LIBRARY_PATH": libraries}


def _make(folder: Path) -> None:
    install_locked(LOCK, folder)
    try_out(Cuda.NAME, TRY, _variables(folder))
