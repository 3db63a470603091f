"""Runs OpenVINO: an engine of its own, which reads the ONNX graph and computes in float32 here."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from packager.engines.environments.openvino import OpenVino as Environment
from packager.engines.runners import engines
from packager.engines.runners.runner import GRAPH, Runnable, Session

CHILD = Path(__file__).with_name("openvino_child.py")


@dataclass(frozen=True, kw_only=True)
class OpenVino:
    NAME: ClassVar[str] = "openvino"
    OPENS: ClassVar[str] = GRAPH
    ROUNDING: ClassVar[float] = 0.0
    ENGINE: ClassVar[str] = "OpenVINO"
    about: ClassVar[str] = "OpenVINO on this machine's processor, without ONNX Runtime"

    def label(self) -> str:
        return self.NAME

    def identity(self) -> str:
        return Environment().identity()

    def missing(self) -> str:
        return Environment().missing()

    def cannot_open(self, model: Runnable) -> str:
        return engines.cannot_read(model)

    def cannot_time(self) -> str:
        return ""

    def open(self, model: Runnable, folder: Path) -> Session:
        return engines.opened(CHILD, Environment(), model, folder)
