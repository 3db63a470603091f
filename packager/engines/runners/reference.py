"""Runs onnx's reference implementation: plain numpy, operator by operator as the standard says, for small models."""

from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import ClassVar

from packager.engines.runners.process import Host, ProcessSession
from packager.engines.runners.runner import GRAPH, Runnable, Session, job
from packager.files.processes.limits import SLOW
from packager.graph.traversal import all_graphs
from packager.graph.weights.places import size_of

CHILD = Path(__file__).with_name("reference_child.py")
MIB = 2**20


@dataclass(frozen=True, kw_only=True)
class OnnxReference:
    NAME: ClassVar[str] = "reference"
    OPENS: ClassVar[str] = GRAPH
    ROUNDING: ClassVar[float] = 0.0
    ENGINE: ClassVar[str] = "onnx reference"
    about: ClassVar[str] = "onnx's own implementation of the operators, in numpy, for small models"

    largest_mib: int = 50
    """maximum size of weights of a model to run: MiniLM, 22 MiB, takes 0.5 s for 16 words"""
    memory_mib: int = 4096
    """maximum memory: it keeps every value of a run, basic-pitch (0.2 MiB) needs 1 GiB"""

    def label(self) -> str:
        return self.NAME

    def identity(self) -> str:
        return f"onnx {version('onnx')}, numpy {version('numpy')}"

    def missing(self) -> str:
        return ""

    def cannot_open(self, model: Runnable) -> str:
        if model.path.suffix == ".ort":
            return "onnx's reference implementation does not read ORT format"
        size_mib = _weight_bytes(model.path) / MIB
        if size_mib <= self.largest_mib:
            return ""
        return f"too large for onnx's reference implementation: {size_mib:.0f} MiB of weights, over {self.largest_mib}"

    def cannot_time(self) -> str:
        return "it is written to be right, not to be fast"

    def open(self, model: Runnable, folder: Path) -> Session:
        limits = {"memory_bytes": self.memory_mib * MIB}
        return ProcessSession(Host(program=CHILD, slowness=SLOW), job(model, self.NAME, {}) | limits, folder)


def _weight_bytes(path: Path) -> int:
    """Size of the weights inside the file and outside."""
    from google.protobuf.message import DecodeError
    from onnx import ModelProto

    proto = ModelProto()
    try:
        proto.ParseFromString(path.read_bytes())
    except DecodeError:
        return 0  # opening it reports the error
    return sum(size_of(tensor) for graph in all_graphs(proto) for tensor in graph.initializer)
