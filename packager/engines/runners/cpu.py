"""Runs ONNX Runtime's CPU provider in a child process, with the same results on every x86 processor."""

import platform
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import ClassVar

from packager.engines.environments import CHILD, SIGNED, ensure
from packager.engines.environments.arm64 import Arm64
from packager.engines.runners.process import Host, ProcessSession
from packager.engines.runners.runner import ANY, ONNX_RUNTIME, Runnable, Session, job
from packager.files.processes.limits import SLOW

X86 = ("x86_64", "AMD64")
EXACT_CHILD = Path(__file__).with_name("cpu_child.py")


@dataclass(frozen=True, kw_only=True)
class Cpu:
    NAME: ClassVar[str] = "cpu"
    OPENS: ClassVar[str] = ANY
    ROUNDING: ClassVar[float] = 0.0
    ENGINE: ClassVar[str] = ONNX_RUNTIME
    about: ClassVar[str] = "ONNX Runtime's CPU provider on this machine"

    def label(self) -> str:
        return self.NAME

    def identity(self) -> str:
        return f"onnxruntime {version('onnxruntime')}, numpy {version('numpy')}"

    def missing(self) -> str:
        return ""

    def cannot_open(self, model: Runnable) -> str:
        is_timed = model.threads is not None
        return "the file computes in 16 bits, which only arm64 processors do" if is_timed and model.needs_fp16 else ""

    def cannot_time(self) -> str:
        return ""

    def open(self, model: Runnable, folder: Path) -> Session:
        if model.threads is not None:
            host = Host(program=CHILD, words=_timed_words(model), is_disposable=True)
            return ProcessSession(host, job(model, "cpu", {}), folder)
        return ProcessSession(_host(model), job(model, "cpu", SIGNED), folder)


def _timed_words(model: Runnable) -> str:
    """ONNX Runtime lays out convolutions for x86 (NCHWc) when it opens a graph; a file in ORT format, made for phones,
    stays as it is, and takes up to three times as long here."""
    words = "ONNX Runtime {version}"
    is_for_phones = model.path.suffix == ".ort" and platform.machine() in X86
    return f"{words}, without the layout for x86 that it gives graphs" if is_for_phones else words


def _host(model: Runnable) -> Host:
    """This Python, or one on an emulated processor that computes in 16 bits if the file requires it."""
    if not model.needs_fp16:
        return Host(program=EXACT_CHILD, is_disposable=True)
    core = Arm64()
    ensure(core)
    return Host(
        program=CHILD,
        command=core.command(),
        environment=core.variables(),
        owner=core.NAME,
        slowness=SLOW,
        words="ONNX Runtime {version} on an emulated " + core.cpu,
        is_disposable=True,
    )
