"""Isolated Python environments with other builds of ONNX Runtime. To add one: a file and a line here."""

from pathlib import Path

from packager.environments.android import Android
from packager.environments.arm64 import Arm64
from packager.environments.cuda import Cuda
from packager.environments.environment import Environment, ensure
from packager.environments.qnn import Qnn
from packager.environments.runtime import Runtime
from packager.environments.web import Web
from packager.environments.webgpu import WebGpu
from packager.environments.x86_64 import OlderX86

ENVIRONMENTS: dict[str, type[Environment]] = {
    Android.NAME: Android,
    Arm64.NAME: Arm64,
    Cuda.NAME: Cuda,
    Qnn.NAME: Qnn,
    Runtime.NAME: Runtime,
    Web.NAME: Web,
    WebGpu.NAME: WebGpu,
    OlderX86.NAME: OlderX86,
}

CHILD = Path(__file__).parents[1] / "session" / "session_child.py"
"""program that opens and runs models in any environment"""
SIGNED = {"session.qdqisint8allowed": "1"}
"""session configuration that keeps S8S8 signed, as on ARM; by default ONNX Runtime converts it to U8S8 on x86"""

__all__ = ["CHILD", "ENVIRONMENTS", "SIGNED", "Environment", "ensure"]
