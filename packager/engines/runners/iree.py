"""Runs IREE: a compiler that makes a program of the ONNX graph, and a runtime for that program."""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import ClassVar

from packager.core import parsing
from packager.engines.environments.iree import Iree as Environment
from packager.engines.runners import engines
from packager.engines.runners.runner import GRAPH, Runnable, Session
from packager.files.processes import children
from packager.files.processes.inherited import MODELS

CHILD = Path(__file__).with_name("iree_child.py")
PROBE = """
import json, sys, iree.runtime
print(json.dumps([device["name"] for device in iree.runtime.get_driver(sys.argv[1]).query_available_devices()]))
"""
STATUS = re.compile(r"[A-Z_]+; ([^;:(\n]+)")
"""An error of IREE: its code, and the reason."""


@dataclass(frozen=True, kw_only=True)
class Iree:
    NAME: ClassVar[str] = "iree"
    OPENS: ClassVar[str] = GRAPH
    ROUNDING: ClassVar[float] = 0.0
    ENGINE: ClassVar[str] = "IREE"
    about: ClassVar[str] = "IREE on this machine's processor, without ONNX Runtime"
    GPU: ClassVar[str] = ""
    """IREE's name of the interface to a graphics processor; empty for the CPU"""

    def label(self) -> str:
        return self.NAME

    def identity(self) -> str:
        return "" if self.GPU else Environment().identity()  # those of a GPU depend on its driver

    def missing(self) -> str:
        return Environment().missing() or (_lacks(self.GPU) if self.GPU else "")

    def cannot_open(self, model: Runnable) -> str:
        return engines.cannot_read(model)

    def cannot_time(self) -> str:
        return ""

    def open(self, model: Runnable, folder: Path) -> Session:
        return engines.opened(CHILD, Environment(), model, folder, {"gpu": self.GPU})


class IreeCuda(Iree):
    NAME: ClassVar[str] = "iree-cuda"
    ENGINE: ClassVar[str] = ""
    about: ClassVar[str] = "IREE on an NVIDIA GPU, through CUDA"
    GPU: ClassVar[str] = "cuda"


class IreeVulkan(Iree):
    NAME: ClassVar[str] = "iree-vulkan"
    ENGINE: ClassVar[str] = ""
    about: ClassVar[str] = "IREE on a GPU, through Vulkan"
    GPU: ClassVar[str] = "vulkan"


@cache
def _lacks(gpu: str) -> str:
    """Why IREE has no device for the interface `gpu` on this machine; empty if it has one."""
    command = [*Environment().command(), "-c", PROBE, gpu]
    done = children.run(command, inherits=MODELS, environment=Environment().variables())
    if done.returncode:
        found = STATUS.search(done.stderr)
        return f"IREE cannot use {gpu} on this machine: {found[1] if found else done.stderr.strip()[-200:]}"
    return "" if parsing.json_of(done.stdout.splitlines()[-1]) else f"IREE finds no device for {gpu} on this machine"
