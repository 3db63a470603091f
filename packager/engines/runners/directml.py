"""Runs ONNX Runtime's DirectML provider, on Windows."""

import platform
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from packager.engines.runners import elsewhere
from packager.engines.runners.runner import GRAPH, Runnable, Session

PROVIDER = "DmlExecutionProvider"
PACKAGE = "onnxruntime-directml"
OPTIONS: dict[str, str] = {
    "disable_metacommands": "true",  # those are the driver's own kernels, in a precision of their own
}


@dataclass(frozen=True, kw_only=True)
class DirectMl:
    NAME: ClassVar[str] = "directml"
    OPENS: ClassVar[str] = GRAPH
    ROUNDING: ClassVar[float] = 0.0
    ENGINE: ClassVar[str] = ""
    about: ClassVar[str] = "ONNX Runtime's DirectML provider on a GPU of Windows"
    interpreter: str = ""
    """a Python with onnxruntime-directml; empty for this one"""

    def label(self) -> str:
        return self.NAME

    def identity(self) -> str:
        return ""  # results depend on the driver

    def missing(self) -> str:
        if platform.system() != "Windows":
            return f"DirectML is a part of Windows, and this is {platform.system()}: run mobpack there, with {PACKAGE}"
        return elsewhere.lacks_provider(self.interpreter, PROVIDER, PACKAGE)

    def cannot_open(self, model: Runnable) -> str:
        return elsewhere.cannot_open(model)

    def cannot_time(self) -> str:
        return ""

    def open(self, model: Runnable, folder: Path) -> Session:
        return elsewhere.opened(self.interpreter, PROVIDER, OPTIONS, "DirectML", model, folder)
