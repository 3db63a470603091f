"""Programs that run models. To add one: a file and a line here."""

from collections.abc import Callable, Mapping

from packager.engines.runners.arm64 import Arm64, arm64_runners
from packager.engines.runners.coreml import Coreml
from packager.engines.runners.cpu import Cpu
from packager.engines.runners.cuda import Cuda
from packager.engines.runners.directml import DirectMl
from packager.engines.runners.iree import Iree, IreeCuda, IreeVulkan
from packager.engines.runners.litert import LiteRt
from packager.engines.runners.migraphx import MiGraphX
from packager.engines.runners.mnn import Mnn
from packager.engines.runners.openvino import OpenVino
from packager.engines.runners.openvino_ep import OpenVinoProvider
from packager.engines.runners.qnn import Qnn
from packager.engines.runners.recorded import Recorded
from packager.engines.runners.reference import OnnxReference
from packager.engines.runners.rocm import Rocm
from packager.engines.runners.runner import (
    ANY,
    GRAPH,
    ORIGINAL,
    Loading,
    Outcome,
    Pace,
    Runnable,
    Runner,
    Session,
    Times,
)
from packager.engines.runners.tensorrt import Tensorrt
from packager.engines.runners.tensorrt_native import TensorrtNative
from packager.engines.runners.tract import Tract
from packager.engines.runners.web import Web
from packager.engines.runners.webgpu import Webgpu
from packager.engines.runners.webnn import Webnn
from packager.engines.runners.x86_64 import X8664
from packager.engines.runners.xnnpack import Xnnpack

RUNNERS: Mapping[str, Callable[[str], tuple[Runner, ...]]] = {
    Arm64.NAME: lambda interpreter: arm64_runners(),
    Coreml.NAME: lambda interpreter: (Coreml(),),
    Cpu.NAME: lambda interpreter: (Cpu(),),
    Cuda.NAME: lambda interpreter: (Cuda(interpreter=interpreter),),
    Iree.NAME: lambda interpreter: (Iree(),),
    IreeCuda.NAME: lambda interpreter: (IreeCuda(),),
    IreeVulkan.NAME: lambda interpreter: (IreeVulkan(),),
    LiteRt.NAME: lambda interpreter: (LiteRt(),),
    Mnn.NAME: lambda interpreter: (Mnn(),),
    OpenVino.NAME: lambda interpreter: (OpenVino(),),
    DirectMl.NAME: lambda interpreter: (DirectMl(interpreter=interpreter),),
    MiGraphX.NAME: lambda interpreter: (MiGraphX(interpreter=interpreter),),
    OpenVinoProvider.NAME: lambda interpreter: (OpenVinoProvider(),),
    Rocm.NAME: lambda interpreter: (Rocm(interpreter=interpreter),),
    Webnn.NAME: lambda interpreter: (Webnn(),),
    Recorded.NAME: lambda folder: (Recorded(folder=folder),),
    Qnn.NAME: lambda interpreter: (Qnn(),),
    OnnxReference.NAME: lambda interpreter: (OnnxReference(),),
    Tensorrt.NAME: lambda interpreter: (Tensorrt(interpreter=interpreter),),
    TensorrtNative.NAME: lambda interpreter: (TensorrtNative(interpreter=interpreter),),
    Tract.NAME: lambda interpreter: (Tract(),),
    Web.NAME: lambda interpreter: (Web(),),
    Webgpu.NAME: lambda interpreter: (Webgpu(),),
    X8664.NAME: lambda interpreter: (X8664(),),
    Xnnpack.NAME: lambda interpreter: (Xnnpack(),),
}
"""Name -> the runners of that name, one for each processor. The argument is the interpreter that the user names for
them in `[parity.interpreters]`, or empty; for `recorded` it is the folder."""

RECORDED = Recorded.NAME
INTERPRETED = (Cuda.NAME, DirectMl.NAME, MiGraphX.NAME, Rocm.NAME, Tensorrt.NAME, TensorrtNative.NAME)
"""Runners that use the user's interpreter, if one is named."""

__all__ = [
    "ANY",
    "GRAPH",
    "INTERPRETED",
    "ORIGINAL",
    "RECORDED",
    "RUNNERS",
    "Loading",
    "Outcome",
    "Pace",
    "Runnable",
    "Runner",
    "Session",
    "Times",
]
