"""Runs ONNX Runtime's TensorRT provider, in the isolated environment `cuda` or in an interpreter that the user
names."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from packager.engines.environments import CHILD, nvidia
from packager.engines.environments.cuda import Cuda as Environment
from packager.engines.runners.process import Host, ProcessSession
from packager.engines.runners.runner import GRAPH, Runnable, Session, job
from packager.files.processes.limits import SLOW
from packager.graph import traversal

PROVIDER = "TensorrtExecutionProvider"
ENTRIES = {"session.qdqisint8allowed": "1"}  # otherwise x86 turns S8S8 into U8S8 before the provider sees it
LIBRARIES = (*nvidia.CUDA_LIBRARIES, *nvidia.TENSORRT_LIBRARIES)


@dataclass(frozen=True, kw_only=True)
class Tensorrt:
    NAME: ClassVar[str] = "tensorrt"
    OPENS: ClassVar[str] = GRAPH
    ROUNDING: ClassVar[float] = 0.0
    ENGINE: ClassVar[str] = ""
    about: ClassVar[str] = "ONNX Runtime's TensorRT provider on an NVIDIA GPU; needs TensorRT 10"
    interpreter: str = ""
    """a Python with onnxruntime-gpu; empty for the environment `cuda`"""
    fp16: bool = False
    """whether to allow float32 layers to compute in 16 bits"""

    def label(self) -> str:
        return self.NAME

    def identity(self) -> str:
        return ""  # it times kernels while it builds an engine, and may choose others in the next run

    def missing(self) -> str:
        facts, where = self._facts(), self._place()
        return (
            nvidia.lacks_gpu(facts)
            or nvidia.lacks_driver_for_cuda_13(facts)
            or nvidia.lacks_tensorrt_libraries(facts)
            or ("" if self.interpreter else Environment().missing())
            or nvidia.lacks_onnxruntime_gpu(facts, where)
            or nvidia.lacks_cuda_libraries(facts, where)
        )

    def cannot_open(self, model: Runnable) -> str:
        return "it opens only ONNX graphs" if model.path.suffix == ".ort" else ""

    def cannot_time(self) -> str:
        return ""

    def open(self, model: Runnable, folder: Path) -> Session:
        """The nodes that TensorRT leaves run on the CPU and are counted; a model that it leaves as a whole is
        refused."""
        facts, where = self._facts(), self._place()
        what = f"TensorRT {facts.tensorrt_version} through ONNX Runtime {{version}} on {nvidia.in_words(facts)}"
        host = Host(
            program=CHILD,
            command=where.command,
            environment=nvidia.loading(where, facts),
            slowness=SLOW,  # it makes an engine anew for other shapes
            owner="" if self.interpreter else Environment.NAME,
            words=f"{what}, {'fp16 allowed' if self.fp16 else 'TF32 off'}",
        )
        options = provider_options(fp16=self.fp16, is_quantized=is_quantized(model.path))
        return ProcessSession(host, job(model, PROVIDER, ENTRIES, options), folder)

    def _place(self) -> nvidia.Interpreter:
        return nvidia.place(self.interpreter, Environment())

    def _facts(self) -> nvidia.Facts:
        return nvidia.probe(self._place(), libraries=LIBRARIES, modules=("onnxruntime",))


def provider_options(*, fp16: bool, is_quantized: bool) -> dict[str, str]:
    """Options without any cache: an engine of another version or option must never be used."""
    return {
        "trt_fp16_enable": "1" if fp16 else "0",
        "trt_int8_enable": "1" if is_quantized else "0",  # otherwise TensorRT refuses QuantizeLinear
        "trt_engine_cache_enable": "0",
        "trt_timing_cache_enable": "0",
    }


def is_quantized(path: Path) -> bool:
    from onnx import load

    graph = load(path, load_external_data=False)
    return any(node.op_type in ("QuantizeLinear", "DequantizeLinear") for node in traversal.all_nodes(graph))
