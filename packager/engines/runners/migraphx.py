"""Runs ONNX Runtime's MIGraphX provider, on an AMD GPU."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from packager.engines.runners import elsewhere
from packager.engines.runners.runner import GRAPH, Runnable, Session

PROVIDER = "MIGraphXExecutionProvider"
PACKAGE = "onnxruntime-migraphx"
OPTIONS: dict[str, str] = {"migraphx_fp16_enable": "0", "migraphx_exhaustive_tune": "0"}


@dataclass(frozen=True, kw_only=True)
class MiGraphX:
    NAME: ClassVar[str] = "migraphx"
    OPENS: ClassVar[str] = GRAPH
    ROUNDING: ClassVar[float] = 0.0
    ENGINE: ClassVar[str] = ""
    about: ClassVar[str] = "ONNX Runtime's MIGraphX provider on an AMD GPU"
    interpreter: str = ""
    """a Python with onnxruntime-migraphx; empty for this one"""

    def label(self) -> str:
        return self.NAME

    def identity(self) -> str:
        return ""  # results depend on the driver

    def missing(self) -> str:
        return (
            elsewhere.lacks_amd_gpu()
            or elsewhere.lacks_libraries("migraphx_c", "amdhip64")
            or elsewhere.lacks_provider(self.interpreter, PROVIDER, PACKAGE)
        )

    def cannot_open(self, model: Runnable) -> str:
        return elsewhere.cannot_open(model)

    def cannot_time(self) -> str:
        return ""

    def open(self, model: Runnable, folder: Path) -> Session:
        return elsewhere.opened(self.interpreter, PROVIDER, OPTIONS, "MIGraphX", model, folder)
