"""runtime: the ONNX Runtime that packages depend on, for this machine's processor."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from packager.environments.environment import (
    folder_for,
    install_locked,
    isolated_command,
    isolated_variables,
    make_once,
    not_installed,
    try_out,
)
from packager.processes import downloads

LOCK = Path(__file__).with_name("runtime.txt")


@dataclass(frozen=True, kw_only=True)
class Runtime:
    """pip's onnxruntime in the version of `[android] onnxruntime` in pins.toml."""

    NAME: ClassVar[str] = "runtime"
    about: ClassVar[str] = "the ONNX Runtime that apps get: proves that it has every kernel; made when first needed"

    def unsupported(self) -> str:
        return ""  # mobpack itself needs onnxruntime, so wheels exist

    def missing(self) -> str:
        return not_installed(self.NAME, _folder())

    def install(self) -> None:
        make_once(_folder(), _make)

    def command(self) -> tuple[str, ...]:
        return isolated_command()

    def variables(self) -> Mapping[str, str]:
        return isolated_variables(_folder())


def shipped_version() -> str:
    """Version of the ONNX Runtime that packages depend on."""
    return str(downloads.pins()["android"]["onnxruntime"]).rpartition(":")[2]


def _folder() -> Path:
    return folder_for(Runtime.NAME, [LOCK.read_text(encoding="utf-8"), shipped_version()])


def _make(folder: Path) -> None:
    """Compiling all of numpy takes longer than unpacking it; the trial compiles the modules that are used."""
    install_locked(LOCK, folder, {"ONNXRUNTIME": shipped_version()}, has_bytecode=False)
    program = f"import onnxruntime; assert onnxruntime.__version__ == '{shipped_version()}', onnxruntime.__version__"
    try_out(Runtime.NAME, program, {**isolated_variables(folder), "PYTHONDONTWRITEBYTECODE": ""})
