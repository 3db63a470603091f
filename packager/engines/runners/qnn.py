"""Runs Qualcomm's provider on its simulated neural processor."""

import mmap
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from packager.engines.environments import CHILD, SIGNED
from packager.engines.environments.qnn import OPTIONS, WORDS
from packager.engines.environments.qnn import Qnn as Environment
from packager.engines.runners.process import Host, ProcessSession
from packager.engines.runners.runner import SUMS_IN_16_BITS, Runnable, Session, job
from packager.files.processes.limits import SLOW

CONTEXT = b"EPContext"
"""Operator of the nodes that hold a program for one chip."""


@dataclass(frozen=True, kw_only=True)
class Qnn:
    NAME: ClassVar[str] = "qnn"
    OPENS: ClassVar[str] = "qnn"
    ROUNDING: ClassVar[float] = SUMS_IN_16_BITS
    ENGINE: ClassVar[str] = ""
    about: ClassVar[str] = "QNN on Qualcomm's simulator of its neural processor"

    def label(self) -> str:
        return self.NAME

    def identity(self) -> str:
        return " ".join([*Environment().command(), *Environment().variables().values(), *OPTIONS.values()])

    def missing(self) -> str:
        return Environment().missing()

    def cannot_open(self, model: Runnable) -> str:
        return "a program for one chip, which runs only on that chip" if _holds_program(model.path) else ""

    def cannot_time(self) -> str:
        return "Qualcomm's simulator computes on the CPU: its times are not those of the neural processor"

    def open(self, model: Runnable, folder: Path) -> Session:
        host = Host(
            program=CHILD,
            command=Environment().command(),
            environment=Environment().variables(),
            owner=Environment.NAME,
            slowness=SLOW,
            words="ONNX Runtime {version}, " + WORDS,
        )
        return ProcessSession(host, job(model, self.NAME, SIGNED, OPTIONS), folder)


def _holds_program(path: Path) -> bool:
    if path.suffix == ".ort" or not path.stat().st_size:
        return False
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        return content.find(CONTEXT) >= 0
