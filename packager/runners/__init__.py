"""Programs that run models. To add one: a file and a line here."""

from collections.abc import Callable, Mapping

from packager.runners.arm64 import Arm64, arm64_runners
from packager.runners.coreml import Coreml
from packager.runners.cpu import Cpu
from packager.runners.cuda import Cuda
from packager.runners.directml import DirectMl
from packager.runners.litert import LiteRt
from packager.runners.migraphx import MiGraphX
from packager.runners.mnn import Mnn
from packager.runners.openvino import OpenVino
from packager.runners.openvino_ep import OpenVinoProvider
from packager.runners.qnn import Qnn
from packager.runners.recorded import Recorded
from packager.runners.reference import OnnxReference
from packager.runners.rocm import Rocm
from packager.runners.runner import ANY, GRAPH, ORIGINAL, Loading, Outcome, Pace, Runnable, Runner, Session, Times
from packager.runners.tensorrt import Tensorrt
from packager.runners.tensorrt_native import TensorrtNative
from packager.runners.tract import Tract
from packager.runners.web import Web
from packager.runners.webgpu import Webgpu
from packager.runners.webnn import Webnn
from packager.runners.x86_64 import X8664
from packager.runners.xnnpack import Xnnpack

RUNNERS: Mapping[str, Callable[[str], tuple[Runner, ...]]] = {
    Arm64.NAME: lambda interpreter: arm64_runners(),
    Coreml.NAME: lambda interpreter: (Coreml(),),
    Cpu.NAME: lambda interpreter: (Cpu(),),
    Cuda.NAME: lambda interpreter: (Cuda(interpreter=interpreter),),
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
