"""Runs ONNX Runtime's ROCm provider, on an AMD GPU. Version 1.22 is the last that has it."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from packager.engines.runners import elsewhere
from packager.engines.runners.runner import GRAPH, Runnable, Session

PROVIDER = "ROCMExecutionProvider"
PACKAGE = "onnxruntime-rocm"
OPTIONS: dict[str, str] = {}


@dataclass(frozen=True, kw_only=True)
class Rocm:
    NAME: ClassVar[str] = "rocm"
    OPENS: ClassVar[str] = GRAPH
    ROUNDING: ClassVar[float] = 0.0
    ENGINE: ClassVar[str] = ""
    about: ClassVar[str] = "ONNX Runtime's ROCm provider on an AMD GPU, in ONNX Runtime 1.22; newer ones have MIGraphX"
    interpreter: str = ""
    """a Python with onnxruntime-rocm; empty for this one"""

    def label(self) -> str:
        return self.NAME

    def identity(self) -> str:
        return ""  # results depend on the driver

    def missing(self) -> str:
        return (
            elsewhere.lacks_amd_gpu()
            or elsewhere.lacks_libraries("MIOpen", "amdhip64")
            or elsewhere.lacks_provider(self.interpreter, PROVIDER, PACKAGE)
        )

    def cannot_open(self, model: Runnable) -> str:
        return elsewhere.cannot_open(model)

    def cannot_time(self) -> str:
        return ""

    def open(self, model: Runnable, folder: Path) -> Session:
        return elsewhere.opened(self.interpreter, PROVIDER, OPTIONS, "ROCm", model, folder)
