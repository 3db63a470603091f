"""Runs ONNX Runtime, in the version that ships, on arm64 processors: emulated ones, or the machine's own."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from packager.engines.environments import CHILD
from packager.engines.environments.arm64 import Arm64 as Environment
from packager.engines.environments.arm64 import is_native
from packager.engines.runners.process import Host, ProcessSession
from packager.engines.runners.runner import ONNX_RUNTIME, Runnable, Session, job
from packager.files.processes.limits import SLOW

CORES = {"cortex-a53": False, "cortex-a76": True, "neoverse-v1": True}
"""qemu's names -> whether the core computes in 16 bits. MLAS has other kernels for each: plain NEON with narrow loads,
dot products, 8-bit matrix products."""
FP16_FLAG = "asimdhp"
"""Linux's name of the half-precision extension."""
CPUINFO = Path("/proc/cpuinfo")


@dataclass(frozen=True, kw_only=True)
class Arm64:
    NAME: ClassVar[str] = "arm64"
    OPENS: ClassVar[str] = "cpu"
    ROUNDING: ClassVar[float] = 0.0
    ENGINE: ClassVar[str] = ONNX_RUNTIME
    about: ClassVar[str] = "the ONNX Runtime that ships, on an arm64 processor"

    cpu: str = ""
    """qemu's name of the core; empty for the machine's own"""

    def label(self) -> str:
        return f"{self.NAME} {self.cpu}".strip()

    def identity(self) -> str:
        """Empty for the machine's own processor, because the kernels depend on its model."""
        return " ".join([*self._environment.command(), *self._environment.variables().values()]) if self.cpu else ""

    def missing(self) -> str:
        return self._environment.missing()

    def cannot_open(self, model: Runnable) -> str:
        if not model.needs_fp16 or self._has_fp16():
            return ""
        return f"the file computes in 16 bits, which the {self.cpu or 'processor of this machine'} is too old for"

    def cannot_time(self) -> str:
        """qemu makes many instructions of one, another number for each kind: not even ratios are those of a device."""
        return "qemu emulates the processor: its times are not those of a device" if self.cpu else ""

    def open(self, model: Runnable, folder: Path) -> Session:
        host = Host(
            program=CHILD,
            command=self._environment.command(),
            environment=self._environment.variables(),
            owner=self._environment.NAME,
            slowness=SLOW if self.cpu else 1,
            words="ONNX Runtime {version} on " + (f"an emulated {self.cpu}" if self.cpu else "arm64"),
            is_disposable=True,
        )
        return ProcessSession(host, job(model, "cpu", {}), folder)

    def _has_fp16(self) -> bool:
        return CORES[self.cpu] if self.cpu else FP16_FLAG in CPUINFO.read_text(encoding="utf-8")

    @property
    def _environment(self) -> Environment:
        return Environment(runtime="shipped", cpu=self.cpu)


def arm64_runners() -> tuple[Arm64, ...]:
    """One runner for each processor."""
    return (Arm64(),) if is_native() else tuple(Arm64(cpu=core) for core in CORES)
