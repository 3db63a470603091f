"""Runs ONNX Runtime's CoreML provider, if the installed ONNX Runtime has it: on a Mac."""

import platform
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import ClassVar

from packager.engines.environments import CHILD, SIGNED
from packager.engines.runners.process import Host, ProcessSession
from packager.engines.runners.runner import SUMS_IN_16_BITS, Runnable, Session, job

PROVIDER = "CoreMLExecutionProvider"
OPTIONS = {"ModelFormat": "MLProgram"}
"""The default options of packages; the provider's own default is the older format."""


@dataclass(frozen=True, kw_only=True)
class Coreml:
    NAME: ClassVar[str] = "coreml"
    OPENS: ClassVar[str] = "coreml"
    ROUNDING: ClassVar[float] = SUMS_IN_16_BITS
    ENGINE: ClassVar[str] = ""
    about: ClassVar[str] = "CoreML on this Mac"

    def label(self) -> str:
        return self.NAME

    def identity(self) -> str:
        """Empty: CoreML chooses among the machine's processors, and changes with its system."""
        return ""

    def missing(self) -> str:
        import onnxruntime

        if PROVIDER in onnxruntime.get_available_providers():
            return ""
        return (
            f"the installed onnxruntime {version('onnxruntime')} has no CoreML provider: "
            "it comes with onnxruntime for macOS; run mobpack on a Mac"
        )

    def cannot_open(self, model: Runnable) -> str:
        return ""

    def cannot_time(self) -> str:
        return ""

    def open(self, model: Runnable, folder: Path) -> Session:
        words = f"ONNX Runtime {{version}}, CoreML of macOS {platform.mac_ver()[0]} on {platform.machine()}"
        return ProcessSession(Host(program=CHILD, words=words), job(model, PROVIDER, SIGNED, OPTIONS), folder)
