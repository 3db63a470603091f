"""Runs ONNX Runtime's OpenVINO provider, on the CPU, in an isolated environment."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from packager.engines.environments import CHILD, SIGNED
from packager.engines.environments.openvino_ep import OpenVinoProvider as Environment
from packager.engines.runners import elsewhere
from packager.engines.runners.process import Host, ProcessSession
from packager.engines.runners.runner import GRAPH, Runnable, Session, job

PROVIDER = "OpenVINOExecutionProvider"
OPTIONS = {"device_type": "CPU", "precision": "ACCURACY"}


@dataclass(frozen=True, kw_only=True)
class OpenVinoProvider:
    NAME: ClassVar[str] = "openvino-ep"
    OPENS: ClassVar[str] = GRAPH
    ROUNDING: ClassVar[float] = 0.0
    ENGINE: ClassVar[str] = "OpenVINO"
    about: ClassVar[str] = "ONNX Runtime's OpenVINO provider on this machine's processor"

    def label(self) -> str:
        return self.NAME

    def identity(self) -> str:
        return Environment().identity()

    def missing(self) -> str:
        return Environment().missing()

    def cannot_open(self, model: Runnable) -> str:
        return elsewhere.cannot_open(model)

    def cannot_time(self) -> str:
        return ""

    def open(self, model: Runnable, folder: Path) -> Session:
        host = Host(
            program=CHILD,
            command=Environment().command(),
            environment=Environment().variables(),
            owner=Environment.NAME,
            words="ONNX Runtime {version}, OpenVINO on the CPU",
        )
        return ProcessSession(host, job(model, PROVIDER, SIGNED, OPTIONS), folder)
