"""What a runner is: something that takes a model and samples and gives outputs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Protocol


@dataclass(frozen=True, kw_only=True)
class Runnable:
    """A model as runners take it."""

    path: Path
    """an .ort file, or a serialized ModelProto"""
    data_folder: Path | None = None
    """folder of the external data of a ModelProto"""
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
    """.npz with one array per output, keyed `0`, `1` ... in the model's order"""
    error: str = ""
    """the runtime's message when it refused the sample"""


class Runner(Protocol):
    NAME: ClassVar[str]

    def missing(self) -> str:
        """What this machine lacks to use the runner, and how to get it; empty when nothing."""
        ...

    def run(self, model: Runnable, samples: tuple[Path, ...], folder: Path) -> tuple[Outcome, ...]:
        """Runs every sample (.npz keyed by input name) and writes its outputs below `folder`.

        Raises ModelError when the model cannot be loaded or takes its process down.
        """
        ...
