"""Pythons beside this one, with other ONNX Runtimes. Adding one: a file and a line here."""

from packager.environments.android import Android
from packager.environments.arm64 import Arm64
from packager.environments.environment import Environment, ensure
from packager.environments.qnn import Qnn
from packager.environments.runtime import Runtime
from packager.environments.webgpu import WebGpu

ENVIRONMENTS: dict[str, type[Environment]] = {
    Android.NAME: Android,
    Arm64.NAME: Arm64,
    Qnn.NAME: Qnn,
    Runtime.NAME: Runtime,
    WebGpu.NAME: WebGpu,
}

__all__ = ["ENVIRONMENTS", "Environment", "ensure"]
