"""runtime: the ONNX Runtime that packages depend on, for this machine's processor."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from packager.engines.environments.arm64 import Arm64
from packager.engines.environments.environment import (
    CHILD,
    SIGNED,
    Environment,
    folder_for,
    install_locked,
    isolated_command,
    isolated_variables,
    make_once,
    not_installed,
    try_out,
)
from packager.files.processes import downloads

LOCK = Path(__file__).with_name("runtime.txt")


@dataclass(frozen=True, kw_only=True)
class Runtime:
    """pip's onnxruntime in the version of `[android] onnxruntime` in pins.toml."""

    NAME: ClassVar[str] = "runtime"
    about: ClassVar[str] = "the ONNX Runtime that apps get: proves that it has every kernel; made when first needed"
    PROGRAM: ClassVar[Path] = CHILD
    ENTRIES: ClassVar[Mapping[str, str]] = SIGNED
    INSTEAD: ClassVar[str] = "ship another runtime that has the kernel: mobpack runtime recipe"
    lock: ClassVar[Path] = LOCK
    """hashes of what is installed"""

    @property
    def version(self) -> str:
        return shipped_version()

    @property
    def package(self) -> str:
        return f"onnxruntime {self.version}"

    @property
    def display_name(self) -> str:
        return f"ONNX Runtime {self.version}"

    def on(self, processor: str) -> Environment:
        return Arm64(runtime="shipped") if processor else self

    def unsupported(self) -> str:
        return ""  # mobpack itself needs onnxruntime, so wheels exist

    def missing(self) -> str:
        return not_installed(self.NAME, self._folder())

    def install(self) -> None:
        make_once(self._folder(), self._make)

    def command(self) -> tuple[str, ...]:
        return isolated_command()

    def variables(self) -> Mapping[str, str]:
        return isolated_variables(self._folder())

    def _folder(self) -> Path:
        return folder_for(self.NAME, [self.lock.read_text(encoding="utf-8"), self.version])

    def _make(self, folder: Path) -> None:
        install_locked(self.lock, folder, {"ONNXRUNTIME": self.version})
        program = f"import onnxruntime; assert onnxruntime.__version__ == '{self.version}', onnxruntime.__version__"
        try_out(self.NAME, program, isolated_variables(folder))


def shipped_version() -> str:
    """Version of the ONNX Runtime that packages depend on."""
    return str(downloads.pins()["android"]["onnxruntime"]).rpartition(":")[2]
