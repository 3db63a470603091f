"""Runs ONNX Runtime's WebGPU provider on a graphics processor that Mesa emulates in software, or on the one whose
Vulkan driver `VK_DRIVER_FILES` names."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from packager.engines.environments import CHILD, SIGNED
from packager.engines.environments.webgpu import CHOSEN, in_words, system_driver
from packager.engines.environments.webgpu import WebGpu as Environment
from packager.engines.runners.process import Host, ProcessSession
from packager.engines.runners.runner import Runnable, Session, job
from packager.files.processes.limits import SLOW
from packager.providers import provider_of


@dataclass(frozen=True, kw_only=True)
class Webgpu:
    NAME: ClassVar[str] = "webgpu"
    OPENS: ClassVar[str] = "webgpu"
    ROUNDING: ClassVar[float] = 0.0
    ENGINE: ClassVar[str] = ""
    about: ClassVar[str] = "WebGPU in software, on Mesa's lavapipe"

    def label(self) -> str:
        return self.NAME

    def identity(self) -> str:
        """Empty if the machine's own Mesa or another driver is used, which may change at any time."""
        if os.environ.get(CHOSEN) or system_driver():
            return ""
        return " ".join([*Environment().command(), *Environment().variables().values()])

    def missing(self) -> str:
        return Environment().missing()

    def cannot_open(self, model: Runnable) -> str:
        return ""

    def cannot_time(self) -> str:
        if os.environ.get(CHOSEN):
            return ""
        return "Mesa computes on the CPU: its times are not those of a graphics processor"

    def open(self, model: Runnable, folder: Path) -> Session:
        host = Host(
            program=CHILD,
            command=Environment().command(),
            environment=Environment().variables(),
            owner=Environment.NAME,
            slowness=SLOW,
            words="ONNX Runtime {version}, " + in_words(),
        )
        return ProcessSession(host, job(model, self.NAME, SIGNED, provider_of(self.NAME).options()), folder)
