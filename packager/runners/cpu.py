"""ONNX Runtime's CPU provider in a process of its own, computing int8 as ARM does wherever it can be told to."""

import platform
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import ClassVar

from packager.environments import CHILD, ensure
from packager.environments.arm64 import Arm64
from packager.runners.process import Host, ProcessSession
from packager.runners.runner import ANY, Runnable, Session, job

EXACT = "session.x64quantprecision"
"""Without it AVX2 saturates 8-bit products (onnxruntime issue 16472). It rewrites the graph when that is optimized: the
operators of an .ort file are final, and saturate with it, too."""
SATURATES = "whose 8-bit products saturate on this processor (AVX2 without VNNI), as they do on no ARM core"
ENTRIES = {
    "session.qdqisint8allowed": "1",  # S8S8 stays signed, as on ARM: then x86 and ARM agree bit for bit
    EXACT: "1",
}


@dataclass(frozen=True, kw_only=True)
class Cpu:
    NAME: ClassVar[str] = "cpu"
    OPENS: ClassVar[str] = ANY
    ROUNDING: ClassVar[float] = 0.0
    about: ClassVar[str] = "ONNX Runtime's CPU provider on this machine"

    def label(self) -> str:
        return self.NAME

    def identity(self) -> str:
        kind = "saturating" if saturates() else "exact"
        return f"onnxruntime {version('onnxruntime')}, numpy {version('numpy')}, {kind} 8-bit products"

    def missing(self) -> str:
        return ""

    def cannot_open(self, model: Runnable) -> str:
        return ""

    def open(self, model: Runnable, folder: Path) -> Session:
        return ProcessSession(_host(model), job(model, "cpu", entries(model)), folder)


def entries(model: Runnable) -> dict[str, str]:
    """Session configuration with which x86 computes 8-bit numbers as ARM does."""
    if model.path.suffix != ".ort" and model.is_optimized:
        # Here EXACT rewrites the graph: int8 weights become uint8, and QLinearMatMul of int8 by uint8 has no kernel.
        return {key: value for key, value in ENTRIES.items() if key != EXACT}
    return ENTRIES


def _host(model: Runnable) -> Host:
    """This Python, or one on an emulated processor that computes in 16 bits where the file needs that."""
    if not model.needs_fp16:
        words = "ONNX Runtime {version}"
        return Host(program=CHILD, words=f"{words}, {SATURATES}" if saturates() else words)
    core = Arm64()
    ensure(core)
    return Host(
        program=CHILD,
        command=core.command(),
        environment=core.variables(),
        owner=core.NAME,
        words="ONNX Runtime {version} on an emulated " + core.cpu,
    )


def saturates() -> bool:
    """Whether the processor multiplies 8-bit numbers with vpmaddubsw, whose sums of two products have 16 bits."""
    if platform.machine() not in ("x86_64", "AMD64"):
        return False
    flags: set[str] = set()
    with suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        flags = set(next((line for line in lines if line.startswith("flags")), "").split())
    return "avx2" in flags and not flags & {"avx_vnni", "avx512_vnni"}
