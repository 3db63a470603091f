"""Isolated Python environments with other builds of ONNX Runtime, or other engines. To add one: a file and a line
here."""

from packager.environments.android import Android
from packager.environments.arm64 import Arm64
from packager.environments.cuda import Cuda
from packager.environments.environment import CHILD, SIGNED, Environment, Shipped, ensure
from packager.environments.litert import LiteRt
from packager.environments.mnn import Mnn
from packager.environments.openvino import OpenVino
from packager.environments.openvino_ep import OpenVinoProvider
from packager.environments.qnn import Qnn
from packager.environments.runtime import Runtime
from packager.environments.tract import Tract
from packager.environments.web import Web, WebWithGpu
from packager.environments.webgpu import WebGpu
from packager.environments.x86_64 import OlderX86

ENVIRONMENTS: dict[str, type[Environment]] = {
    Android.NAME: Android,
    Arm64.NAME: Arm64,
    Cuda.NAME: Cuda,
    LiteRt.NAME: LiteRt,
    Mnn.NAME: Mnn,
    OpenVino.NAME: OpenVino,
    OpenVinoProvider.NAME: OpenVinoProvider,
    Qnn.NAME: Qnn,
    Runtime.NAME: Runtime,
    Tract.NAME: Tract,
    Web.NAME: Web,
    WebGpu.NAME: WebGpu,
    WebWithGpu.NAME: WebWithGpu,
    OlderX86.NAME: OlderX86,
}

SHIPPED: dict[str, type[Shipped]] = {each.NAME: each for each in (Runtime, Web, WebWithGpu)}
"""Those with an ONNX Runtime that packages contain or depend on: a target names the one of its packages."""

__all__ = ["CHILD", "ENVIRONMENTS", "SHIPPED", "SIGNED", "Environment", "Shipped", "ensure"]
