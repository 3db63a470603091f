"""Runs TensorRT through its own Python API, in this Python or in an interpreter that the user names."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from packager.core.parsing import Json
from packager.engines.environments import nvidia
from packager.engines.environments.nvidia import Facts, Module
from packager.engines.runners.process import Host, ProcessSession
from packager.engines.runners.runner import GRAPH, Runnable, Session
from packager.files.processes.limits import SLOW
from packager.graph import traversal

if TYPE_CHECKING:
    from onnx import ModelProto

CHILD = Path(__file__).with_name("tensorrt_child.py")
TENSORRT = ("tensorrt", "tensorrt_rtx", "tensorrt_rtx_bindings")
"""Modules with TensorRT's API, in order of preference; the last is what the second consists of."""
CUDA = {"pycuda": "pycuda.driver", "cuda-core": "cuda.core"}
"""Package -> its module for memory on the GPU, in order of preference."""
RTX_GPUS = ((7, 5), (8, 0), (8, 6), (8, 9), (12, 0), (12, 1))
"""Compute capabilities that TensorRT for RTX supports."""


@dataclass(frozen=True, kw_only=True)
class TensorrtNative:
    NAME: ClassVar[str] = "tensorrt-native"
    OPENS: ClassVar[str] = GRAPH
    ROUNDING: ClassVar[float] = 0.0
    ENGINE: ClassVar[str] = ""
    about: ClassVar[str] = "TensorRT 10, TensorRT 11 or TensorRT for RTX on an NVIDIA GPU, without ONNX Runtime"
    interpreter: str = ""
    """a Python with tensorrt, and pycuda or cuda-core; empty for this one"""
    fp16: bool = False
    """whether to allow TensorRT 10 to compute float32 layers in 16 bits"""

    def label(self) -> str:
        return self.NAME

    def identity(self) -> str:
        return ""  # it times kernels while it builds an engine, and may choose others in the next run

    def missing(self) -> str:
        facts, where = self._facts(), nvidia.place(self.interpreter)
        return (
            nvidia.lacks_gpu(facts)
            or lacks_tensorrt(facts, where)
            or lacks_memory_module(facts, where)
            or lacks_gpu_for_rtx(facts)
        )

    def cannot_open(self, model: Runnable) -> str:
        return "it opens only ONNX graphs" if model.path.suffix == ".ort" else ""

    def cannot_time(self) -> str:
        return ""

    def open(self, model: Runnable, folder: Path) -> Session:
        facts, where = self._facts(), nvidia.place(self.interpreter)
        job = {
            **described(model, folder),
            "module": first(facts, TENSORRT),
            "cuda": next(name for name, module in CUDA.items() if has(facts, module)),
            "fp16": self.fp16,
            "driver": nvidia.driver_in_words(facts),
        }
        host = Host(program=CHILD, command=where.command, environment=nvidia.loading(where, facts), slowness=SLOW)
        return ProcessSession(host, job, folder)

    def _facts(self) -> Facts:
        modules = ("numpy", *TENSORRT, *CUDA.values())
        return nvidia.probe(nvidia.place(self.interpreter), modules=modules)


def has(facts: Facts, module: str) -> bool:
    return bool(facts.modules.get(module, Module()).version)


def first(facts: Facts, modules: tuple[str, ...]) -> str:
    """The first of `modules` that can be imported; empty if none can."""
    return next((name for name in modules if has(facts, name)), "")


def lacks_tensorrt(facts: Facts, where: nvidia.Interpreter) -> str:
    if first(facts, TENSORRT):
        return ""
    get = f"{where.how_to_get('tensorrt')} (its libraries come from NVIDIA)"
    if facts.gpus[0].capability in RTX_GPUS:
        get += ", or tensorrt-rtx"
    broken = next((name for name in TENSORRT if facts.modules.get(name, Module()).error), "")
    if not broken:
        return f"{where.name} has no module tensorrt: {get}"
    found = f"; found {', '.join(facts.tensorrt)}" if facts.tensorrt else ""
    return f"{where.name} cannot import {broken} ({facts.modules[broken].error}{found}): {get}"


def lacks_memory_module(facts: Facts, where: nvidia.Interpreter) -> str:
    """Why no module can copy data to the GPU; empty if one can."""
    if not has(facts, "numpy"):
        return f"{where.name} has no numpy: {where.how_to_get('numpy')}"
    if any(has(facts, module) for module in CUDA.values()):
        return ""
    broken = [f"{name}: {error}" for name, module in CUDA.items() if (error := facts.modules[module].error)]
    why = f" ({'; '.join(broken)})" if broken else ""
    return f"{where.name} can import neither pycuda nor cuda-core{why}: {where.how_to_get('cuda-core')}, or pycuda"


def lacks_gpu_for_rtx(facts: Facts) -> str:
    """Why TensorRT for RTX does not run here, if it would be the one to use."""
    gpu = facts.gpus[0]
    if "rtx" not in first(facts, TENSORRT) or gpu.capability in RTX_GPUS:
        return ""
    return (
        f"{gpu.name} has compute capability {listed((gpu.capability,))}, and TensorRT for RTX runs on "
        f"{listed(RTX_GPUS)}: install TensorRT, which runs on it"
    )


def listed(capabilities: tuple[tuple[int, int], ...]) -> str:
    return ", ".join(f"{major}.{minor}" for major, minor in capabilities)


def described(model: Runnable, folder: Path) -> Json:
    """Facts about `model` for TensorRT. Writes its graph to `folder` with a name for every node, which the parser's
    errors then contain, and without integers that TensorRT refuses."""
    from onnx import load

    proto = load(model.path, load_external_data=False)
    nodes = list(traversal.all_nodes(proto))
    for node in nodes:
        node.name = node.name or next((name for name in node.output if name), "")
    dequantize_biases(proto, model.data_folder or model.path.parent)
    path = folder / "named.onnx"
    path.write_bytes(proto.SerializeToString())
    return {
        "model": str(path),
        "data_folder": str((model.data_folder or model.path.parent).absolute()),
        "outputs": [output.name for output in proto.graph.output],
        "nodes": len(nodes),
        "is_quantized": any(node.op_type in ("QuantizeLinear", "DequantizeLinear") for node in nodes),
    }


def dequantize_biases(proto: "ModelProto", data_folder: Path) -> None:
    """Replaces each DequantizeLinear of int32 weights by its float result: TensorRT only dequantizes 8 bits and fewer,
    and QDQ graphs have 32-bit biases."""
    from onnx import TensorProto
    from onnx.numpy_helper import from_array, to_array

    weights = {tensor.name: tensor for tensor in proto.graph.initializer}
    for node in list(proto.graph.node):
        if node.op_type != "DequantizeLinear" or not all(name in weights for name in node.input if name):
            continue
        if weights[node.input[0]].data_type != TensorProto.INT32:
            continue
        values, scale, *zero = (to_array(weights[name], str(data_folder)) for name in node.input if name)
        axis = next((attribute.i for attribute in node.attribute if attribute.name == "axis"), 1)
        shape = [-1 if place == axis % values.ndim else 1 for place in range(values.ndim)] if scale.ndim else []
        whole = values - zero[0].reshape(shape) if zero else values
        floats = (whole.astype("float32") * scale.reshape(shape).astype("float32")).astype(scale.dtype)
        proto.graph.initializer.append(from_array(floats, node.output[0]))
        proto.graph.node.remove(node)
