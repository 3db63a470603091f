"""Options for loading a model, and facts about one that was loaded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from .errors import ModelError, ModelErrorCode

MOST_THREADS = 256


@dataclass(frozen=True)
class Options:
    """Options for loading and running a model."""

    providers: Sequence[str] = ()
    """Execution providers by ONNX Runtime's names, such as `CUDAExecutionProvider`, tried in this order; the CPU is
    always last. One of a plug-in library is registered with ONNX Runtime before. `ModelInfo.left_out` says which are
    not used, and why."""
    provider_options: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Settings by provider, under ONNX Runtime's names for them."""
    threads: int = 0
    """Threads of a run, 256 at most; 0 for as many as the machine has cores."""
    spinning: bool = False
    """Whether threads spin while they wait for work: that takes energy for somewhat shorter runs."""
    arena: bool = True
    """Whether ONNX Runtime keeps memory between runs. Without, each run asks the system: less memory, longer runs."""
    prove: bool = True
    """Whether a provider other than the CPU must give the numbers of the package's samples, and be faster than the CPU,
    before it is used."""
    allow_other_runtime: bool = False
    """Run on an ONNX Runtime that is older than the one that the package was tested with."""

    def check(self) -> None:
        """Raises ModelError `BAD_OPTIONS`."""
        if self.threads not in range(MOST_THREADS + 1):
            raise ModelError(
                ModelErrorCode.BAD_OPTIONS, f"threads is {self.threads!r}, which is not one of 0 to {MOST_THREADS}"
            )
        if isinstance(self.providers, str):
            raise ModelError(ModelErrorCode.BAD_OPTIONS, f"providers is a text: write [{self.providers!r}]")


@dataclass(frozen=True)
class LeftOut:
    """A provider that was asked for and is not used."""

    provider: str
    reason: str

    def __str__(self) -> str:
        return f"{self.provider}: {self.reason}"


@dataclass(frozen=True)
class ModelInfo:
    """Identifies a loaded model."""

    name: str
    """its name in the package's configuration"""
    version: str
    """version of the package"""
    file: str
    sha256: str
    """of the file, in hexadecimal"""
    provider: str
    """provider that runs it, by ONNX Runtime's name"""
    left_out: tuple[LeftOut, ...]
    """providers that were asked for and are not used"""
    onnxruntime_version: str
    """version of the ONNX Runtime that runs it"""
