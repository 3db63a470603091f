"""Runs ONNX Runtime, in the version that ships, on an emulated x86_64 processor with AVX2 and nothing newer.

Products of uint8 and int8 saturate there (github.com/microsoft/onnxruntime/issues/16472). The session configuration
against that, `session.x64quantprecision`, rewrites the graph. ONNX Runtime does not rewrite ORT-format files: they
saturate with and without it.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from packager.engines.environments import CHILD, SIGNED
from packager.engines.environments.x86_64 import OlderX86
from packager.engines.runners.process import Host, ProcessSession
from packager.engines.runners.runner import ONNX_RUNTIME, Runnable, Session, job
from packager.files.processes.limits import SLOW


@dataclass(frozen=True, kw_only=True)
class X8664:
    NAME: ClassVar[str] = "x86_64"
    OPENS: ClassVar[str] = "cpu"
    ROUNDING: ClassVar[float] = 0.0
    ENGINE: ClassVar[str] = ONNX_RUNTIME
    about: ClassVar[str] = "the ONNX Runtime that ships, on an emulated x86_64 processor with AVX2 and without VNNI"

    cpu: str = "Haswell-noTSX"
    """qemu's name of the processor"""

    def label(self) -> str:
        return f"{self.NAME} {self.cpu.partition('-')[0].lower()}"

    def identity(self) -> str:
        environment = OlderX86(cpu=self.cpu)
        return " ".join([*environment.command(), *environment.variables().values()])

    def missing(self) -> str:
        return OlderX86(cpu=self.cpu).missing()

    def cannot_open(self, model: Runnable) -> str:
        return "the file computes in 16 bits, for which x86_64 has no kernels" if model.needs_fp16 else ""

    def cannot_time(self) -> str:
        return "qemu emulates the processor: its times are not those of a device"

    def open(self, model: Runnable, folder: Path) -> Session:
        environment = OlderX86(cpu=self.cpu)
        host = Host(
            program=CHILD,
            command=environment.command(),
            environment=environment.variables(),
            owner=environment.NAME,
            slowness=SLOW,
            words=f"ONNX Runtime {{version}} on an emulated {self.cpu.partition('-')[0]}",
        )
        return ProcessSession(host, job(model, "cpu", SIGNED), folder)
