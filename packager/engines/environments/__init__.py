"""Isolated Python environments with other builds of ONNX Runtime, or other engines. To add one: a file and a line
here."""

from packager.engines.environments.android import Android
from packager.engines.environments.arm64 import Arm64
from packager.engines.environments.cuda import Cuda
from packager.engines.environments.environment import CHILD, SIGNED, Environment, Shipped, ensure
from packager.engines.environments.iree import Iree
from packager.engines.environments.litert import LiteRt
from packager.engines.environments.mnn import Mnn
from packager.engines.environments.openvino import OpenVino
from packager.engines.environments.openvino_ep import OpenVinoProvider
from packager.engines.environments.qnn import Qnn
from packager.engines.environments.runtime import Runtime
from packager.engines.environments.tract import Tract
from packager.engines.environments.web import Web, WebWithGpu
from packager.engines.environments.webgpu import WebGpu
from packager.engines.environments.x86_64 import OlderX86

ENVIRONMENTS: dict[str, type[Environment]] = {
    Android.NAME: Android,
    Arm64.NAME: Arm64,
    Cuda.NAME: Cuda,
    Iree.NAME: Iree,
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
"""Environments with an ONNX Runtime that packages contain or depend on: a target names the one of its packages."""

__all__ = ["CHILD", "ENVIRONMENTS", "SHIPPED", "SIGNED", "Environment", "Shipped", "ensure"]
