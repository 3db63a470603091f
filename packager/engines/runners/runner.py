"""The interface of runners: they open a model and compute its outputs, sample by sample."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import ClassVar, Protocol, Self

ONNX_RUNTIME = "ONNX Runtime"
"""The engine that packages contain."""
ANY, GRAPH, ORIGINAL = "any", "graph", "original"
"""Values of `Runner.OPENS` besides the names of providers."""
SUMS_IN_16_BITS = 3e-2
"""Additional error of sums in 16 bits. In Silero VAD, converted to float16, on an emulated Cortex-A76 one convolution
of 387 products is off by 0.0095 of its largest value, the state after four of them and an LSTM by 0.023."""


@dataclass(frozen=True, kw_only=True)
class Runnable:
    """A model in the form that runners open."""

    path: Path
    """an .ort file, or a serialized ModelProto"""
    data_folder: Path | None = None
    """folder of the external data of a ModelProto, if it is not the model's own"""
    needs_fp16: bool = False
    """True for a file that requires 16-bit arithmetic: ARMv8.2 with FP16"""
    settings: Mapping[str, str] = field(default_factory=dict)
    """session configuration that is required to open it"""
    source: Path | None = None
    """the user's model file, beside which there may be files of other frameworks; None for files made from it"""
    is_optimized: bool = True
    """False runs the graph node by node as it is written: the reference for a converted model"""
    threads: int | None = None
    """number of threads of a measurement of time, for which the runtime keeps its own settings for speed; None where
    results count, and sums are added in the same order everywhere"""
    limit_s: float | None = None
    """longest time of one run"""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """Result of one sample."""

    outputs: Path | None
    """folder with `0.npy`, `1.npy` ..., one for each output in the model's order; strings in numpy's Unicode type"""
    error: str = ""
    """the runtime's message if it refused the sample"""


@dataclass(frozen=True, kw_only=True)
class Pace:
    """How much a session runs for one round of times."""

    warm_up_seconds: float = 0.5
    """longest time of the warm-up, which ends earlier once the times are stable"""
    seconds: float = 1.0
    """longest time of the timed runs, unless `least_runs` take longer"""
    runs: int = 500
    """maximum number of timed runs"""
    least_runs: int = 5


@dataclass(frozen=True, kw_only=True)
class Times:
    """One round of times; in nanoseconds, from inputs in memory to outputs in memory."""

    error: str = ""
    """the runtime's message if it refused the sample"""
    warm_up_ns: tuple[int, ...] = ()
    times_ns: tuple[int, ...] = ()
    """of each timed run, in order"""
    cpu_ns: int = 0
    """CPU time of the process during the timed runs, all threads"""
    peak_bytes: int | None = None
    """largest memory of the process so far; None if the system does not tell"""


@dataclass(frozen=True, kw_only=True)
class Loading:
    """Time and memory of opening a model."""

    seconds: float | None = None
    """creation of the session alone, without the start of its program; None if its program does not tell"""
    base_bytes: int | None = None
    """memory of the process before; None if its program or the system does not tell"""
    threads: int | None = None
    """that the runtime computes with, if its program tells"""


class Session(Protocol):
    """A model that a runner has open, for use in a `with` block, which ends its process."""

    @property
    def about(self) -> str:
        """The runtime, in words: `ONNX Runtime 1.31.1`."""
        ...

    @property
    def placed(self) -> int | None:
        """Number of nodes that the provider runs; None if unknown."""
        ...

    @property
    def node_count(self) -> int | None:
        """Number of nodes of the graph that the provider was offered; None if unknown."""
        ...

    def run(self, sample: Path, folder: Path) -> Outcome:
        """Runs one sample (.npz keyed by input name) and writes its outputs to `folder`, which exists.

        Raises ModelError if the model crashes its process.
        """
        ...

    def time(self, sample: Path, pace: Pace) -> Times:
        """Times runs of one sample, after a warm-up. For sessions of runners that can be timed.

        Raises like `run`.
        """
        ...

    @property
    def loading(self) -> Loading:
        """Time and memory of opening the model."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class Runner(Protocol):
    NAME: ClassVar[str]
    OPENS: ClassVar[str]
    """kind of file that it opens: a provider's name, `any` for every file, `graph` for the graph that files are made
    from, `original` for the user's model"""
    ROUNDING: ClassVar[float]
    """error of its own arithmetic where the model has 32 bits, relative to the output's largest value: 0 if it computes
    in the model's precision, `SUMS_IN_16_BITS` if it computes in 16 bits"""
    ENGINE: ClassVar[str]
    """the implementation of the operators, if its opinion counts when engines disagree: `OpenVINO`; empty for an
    accelerator's, which is judged by the others"""
    about: ClassVar[str]
    """description in one line"""

    def label(self) -> str:
        """NAME, and the processor if there are several."""
        ...

    def identity(self) -> str:
        """Everything its results depend on besides the model: results are stored and reused while it stays the same.
        Empty if unknown, in which case nothing is stored."""
        ...

    def missing(self) -> str:
        """The missing requirements of the runner on this machine, and how to get them; empty if none."""
        ...

    def cannot_open(self, model: Runnable) -> str:
        """Why it cannot open `model`, if that is known without trying; empty if it may."""
        ...

    def cannot_time(self) -> str:
        """Why its times would say nothing, such as an emulated processor; empty if it is timed."""
        ...

    def open(self, model: Runnable, folder: Path) -> Session:
        """A session of `model`; files go below `folder`, an existing scratch folder.

        Raises ModelError if the runtime refuses the model or crashes, ToolError if the runner does not work here.
        """
        ...


def job(
    model: Runnable, provider: str, entries: Mapping[str, str], options: Mapping[str, str] | None = None
) -> dict[str, object]:
    """The job with which `session/session_child.py` opens `model` with `provider`."""
    return {
        "task": "serve",
        "model": str(model.path.absolute()),
        "data_folder": str(model.data_folder.absolute()) if model.data_folder else None,
        "provider": provider,
        "provider_options": dict(options or {}),
        "entries": {**entries, **model.settings},
        "optimize": model.is_optimized,
        "threads": model.threads or 0,
        "limit_s": model.limit_s,
    }
