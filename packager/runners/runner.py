"""What a runner is: something that opens a model and gives its outputs, sample by sample."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar, Protocol, Self

ANY, GRAPH, ORIGINAL = "any", "graph", "original"
"""Values of `Runner.OPENS` beside the names of providers."""
SUMS_IN_16_BITS = 3e-2
"""What sums in 16 bits add to an error. In Silero VAD, made float16, on an emulated Cortex-A76 one convolution of 387
products is off by 0.0095 of its largest value, the state behind four of them and an LSTM by 0.023."""


@dataclass(frozen=True, kw_only=True)
class Runnable:
    """A model as runners take it."""

    path: Path
    """an .ort file, or a serialized ModelProto"""
    data_folder: Path | None = None
    """folder of the external data of a ModelProto, where that is not the model's own"""
    needs_fp16: bool = False
    """True for a file that only processors with 16-bit arithmetic load: ARMv8.2 with FP16"""
    settings: Mapping[str, str] = field(default_factory=dict)
    """session configuration that it has to be opened with"""
    is_optimized: bool = True
    """False runs the graph node by node as it is written: what a converted model is compared with"""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What became of one sample."""

    outputs: Path | None
    """folder with `0.npy`, `1.npy` ..., one for each output in the model's order; strings in numpy's Unicode type"""
    error: str = ""
    """the runtime's message when it refused the sample"""


class Session(Protocol):
    """A model that a runner has open, in a `with`: its process is gone at the end."""

    @property
    def about(self) -> str:
        """What runs it, in words: `ONNX Runtime 1.31.1`."""
        ...

    @property
    def placed(self) -> int | None:
        """How many nodes the provider runs; None where nobody says so."""
        ...

    @property
    def node_count(self) -> int | None:
        """Nodes of the graph as the provider was offered it; None where nobody says so."""
        ...

    def run(self, sample: Path, folder: Path) -> Outcome:
        """Runs one sample (.npz keyed by input name) and writes its outputs to `folder`, which exists.

        Raises ModelError when the model takes its process down.
        """
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class Runner(Protocol):
    NAME: ClassVar[str]
    OPENS: ClassVar[str]
    """whose file it opens: a provider's name, `any` for every file, `graph` for the graph that files are made of,
    `original` for the user's model"""
    ROUNDING: ClassVar[float]
    """error that its own arithmetic adds where the model says 32 bits, as a share of the output's largest value: 0
    where it computes as the model says, `SUMS_IN_16_BITS` where it computes in 16 bits"""
    about: ClassVar[str]
    """what it is, in one line"""

    def label(self) -> str:
        """NAME, and the processor where there are several."""
        ...

    def identity(self) -> str:
        """What its numbers depend on beside the model: what it found is kept for as long as this stays the same. Empty
        where nobody knows, and then nothing is kept."""
        ...

    def missing(self) -> str:
        """What this machine lacks to use the runner, and how to get it; empty when nothing."""
        ...

    def cannot_open(self, model: Runnable) -> str:
        """Why it cannot open `model` at all, known without trying; empty when it may."""
        ...

    def open(self, model: Runnable, folder: Path) -> Session:
        """A session of `model`; files go below `folder`, an existing scratch folder.

        Raises ModelError when the runtime refuses the model or crashes, ToolError when the runner does not work here.
        """
        ...


def job(
    model: Runnable, provider: str, entries: Mapping[str, str], options: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """What `session/session_child.py` needs to open `model` with `provider`."""
    return {
        "task": "serve",
        "model": str(model.path.absolute()),
        "data_folder": str(model.data_folder.absolute()) if model.data_folder else None,
        "provider": provider,
        "provider_options": dict(options or {}),
        "entries": {**entries, **model.settings},
        "optimize": model.is_optimized,
        "threads": 0,
    }
