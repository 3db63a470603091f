"""Runs the ONNX Runtime that web packages contain, WebAssembly, in Node.js."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from packager.engines.environments.web import Web as Environment
from packager.engines.runners.process import Host, ProcessSession
from packager.engines.runners.runner import ANY, ONNX_RUNTIME, Runnable, Session, job
from packager.files.processes.limits import SLOW


@dataclass(frozen=True, kw_only=True)
class Web:
    NAME: ClassVar[str] = "web"
    OPENS: ClassVar[str] = ANY
    ROUNDING: ClassVar[float] = 0.0
    ENGINE: ClassVar[str] = ONNX_RUNTIME
    about: ClassVar[str] = "the ONNX Runtime of web packages: WebAssembly in Node.js"

    def label(self) -> str:
        return self.NAME

    def identity(self) -> str:
        """The files of ONNX Runtime: WebAssembly computes the same in every Node.js and on every processor."""
        return " ".join(Environment().variables().values())

    def missing(self) -> str:
        return Environment().missing()

    def cannot_open(self, model: Runnable) -> str:
        return "the file computes in 16 bits, for which WebAssembly has no kernels" if model.needs_fp16 else ""

    def cannot_time(self) -> str:
        return ""

    def open(self, model: Runnable, folder: Path) -> Session:
        environment = Environment()
        host = Host(
            program=environment.PROGRAM,
            command=environment.command(),
            environment=environment.variables(),
            owner=environment.NAME,
            slowness=SLOW,
            words="ONNX Runtime {version} for the web",
            is_disposable=True,
        )
        return ProcessSession(host, job(model, "cpu", environment.ENTRIES), folder)
