"""Runs ONNX Runtime's CUDA provider, in the isolated environment `cuda` or in an interpreter that the user names."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from packager.engines.environments import CHILD, nvidia
from packager.engines.environments.cuda import LOCK
from packager.engines.environments.cuda import Cuda as Environment
from packager.engines.runners.process import Host, ProcessSession
from packager.engines.runners.runner import GRAPH, Runnable, Session, job
from packager.files.hashes import sha256_of

PROVIDER = "CUDAExecutionProvider"
OPTIONS = {
    "use_tf32": "0",  # otherwise float32 products are rounded to 19 bits: errors of 1e-3
    "cudnn_conv_algo_search": "HEURISTIC",  # the default times kernels, and may choose others in the next run
}
FAST = {"use_tf32": "0"}
"""For sessions that are timed: float32 stays what it is, and kernels are chosen for speed."""
ENTRIES = {"session.qdqisint8allowed": "1"}  # otherwise x86 turns S8S8 into U8S8 before the provider sees it


@dataclass(frozen=True, kw_only=True)
class Cuda:
    NAME: ClassVar[str] = "cuda"
    OPENS: ClassVar[str] = GRAPH
    ROUNDING: ClassVar[float] = 0.0
    ENGINE: ClassVar[str] = ""
    about: ClassVar[str] = "ONNX Runtime's CUDA provider on an NVIDIA GPU"
    interpreter: str = ""
    """a Python with onnxruntime-gpu; empty for the environment `cuda`"""

    def label(self) -> str:
        return self.NAME

    def identity(self) -> str:
        if self.interpreter or self.missing():
            return ""  # the CUDA libraries of another Python are unknown
        return f"{nvidia.in_words(self._facts())}, {sha256_of(LOCK)}"

    def missing(self) -> str:
        facts, where = self._facts(), self._place()
        return (
            nvidia.lacks_gpu(facts)
            or nvidia.lacks_driver_for_cuda_13(facts)
            or ("" if self.interpreter else Environment().missing())
            or nvidia.lacks_onnxruntime_gpu(facts, where)
            or nvidia.lacks_cuda_libraries(facts, where)
        )

    def cannot_open(self, model: Runnable) -> str:
        return "it opens only ONNX graphs" if model.path.suffix == ".ort" else ""

    def cannot_time(self) -> str:
        return ""

    def open(self, model: Runnable, folder: Path) -> Session:
        """The nodes that CUDA leaves run on the CPU and are counted; a model that it leaves as a whole is refused."""
        facts, where = self._facts(), self._place()
        host = Host(
            program=CHILD,
            command=where.command,
            environment=nvidia.loading(where, facts),
            owner="" if self.interpreter else Environment.NAME,
            words=f"ONNX Runtime {{version}}, CUDA on {nvidia.in_words(facts)}, TF32 off",
        )
        return ProcessSession(host, job(model, PROVIDER, ENTRIES, OPTIONS if model.threads is None else FAST), folder)

    def _place(self) -> nvidia.Interpreter:
        return nvidia.place(self.interpreter, Environment())

    def _facts(self) -> nvidia.Facts:
        return nvidia.probe(self._place(), libraries=tuple(nvidia.CUDA_LIBRARIES), modules=("onnxruntime",))
