"""release: one release of ONNX Runtime out of a range that apps may bring, for this machine's processor."""

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

LOCK = Path(__file__).with_name("releases.txt")


@dataclass(frozen=True, kw_only=True)
class Release:
    """pip's onnxruntime in one of the releases of pins.toml, made when a range is first proved with it."""

    NAME: ClassVar[str] = "release"
    about: ClassVar[str] = "a release of ONNX Runtime that an app may bring instead; made when first needed"

    version: str

    def unsupported(self) -> str:
        return ""

    def missing(self) -> str:
        return not_installed(self.NAME, self._folder())

    def install(self) -> None:
        make_once(self._folder(), self._make)

    def command(self) -> tuple[str, ...]:
        return isolated_command()

    def variables(self) -> Mapping[str, str]:
        return isolated_variables(self._folder())

    def _folder(self) -> Path:
        return folder_for(self.NAME, [LOCK.read_text(encoding="utf-8"), self.version])

    def _make(self, folder: Path) -> None:
        install_locked(LOCK, folder, {"ONNXRUNTIME": self.version}, has_bytecode=False)
        program = f"import onnxruntime; assert onnxruntime.__version__ == '{self.version}', onnxruntime.__version__"
        try_out(self.NAME, program, {**isolated_variables(folder), "PYTHONDONTWRITEBYTECODE": ""})


def releases() -> tuple[str, ...]:
    """The last release of each minor version that ranges can begin with, the oldest first."""
    return tuple(downloads.pins()["runtime-range"]["releases"])
