"""Options of an export, as both processes read them."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from packager.core.errors import ConfigError
from packager.core.parsing import Json
from packager.verification.parity.allclose import ATOL, RTOL

OPSET = 18
"""opset of PyTorch's ONNX translations; others are converted from it"""
SAMPLES = 4
DYNAMIC_HINT = "for example: --dynamic batch (axis 0 of every input), --dynamic image.2=height"


@dataclass(frozen=True, kw_only=True)
class Axis:
    """A dynamic axis of an input."""

    input: str
    """input name; empty for every input"""
    axis: int
    name: str


@dataclass(frozen=True, kw_only=True)
class ExportRequest:
    factory: str
    """`module:function`, which returns the module and example inputs"""
    code_folder: Path
    """folder that its module is imported from first"""
    output: Path
    dynamic: tuple[Axis, ...] = ()
    opset: int = OPSET
    sample_count: int = SAMPLES
    """number of inputs to compare on, including the example"""
    rtol: float = RTOL
    atol: float = ATOL
    input_names: tuple[str, ...] = ()
    """default: the parameters of `forward`"""
    output_names: tuple[str, ...] = ()
    keep: Path | None = None
    """folder to keep the samples and PyTorch's outputs in"""
    is_forced: bool = False
    """whether the model is written even if its outputs differ"""
    is_strict: bool = False
    """whether warnings are errors"""


@dataclass(frozen=True, kw_only=True)
class ExportJob:
    """A request as passed to the PyTorch process."""

    factory: str
    code_folder: str
    folder: str
    """folder for the graph, `samples` and `recorded`"""
    dynamic: tuple[Axis, ...]
    opset: int
    sample_count: int
    rtol: float
    atol: float
    input_names: tuple[str, ...]
    output_names: tuple[str, ...]

    @classmethod
    def of(cls, request: ExportRequest, folder: Path) -> Self:
        return cls(
            factory=request.factory,
            code_folder=str(request.code_folder),
            folder=str(folder),
            dynamic=request.dynamic,
            opset=request.opset,
            sample_count=request.sample_count,
            rtol=request.rtol,
            atol=request.atol,
            input_names=request.input_names,
            output_names=request.output_names,
        )

    @classmethod
    def read(cls, document: Json) -> Self:
        """Reads a Job from its JSON document."""
        lists = {key: tuple(document[key]) for key in ("input_names", "output_names")}
        axes = tuple(Axis(**each) for each in document["dynamic"])
        return cls(**{**document, **lists, "dynamic": axes})


def parse_dynamic(texts: Iterable[str]) -> tuple[Axis, ...]:
    """Parses `batch` to axis 0 of every input, `image.2=height` to one axis of one input. Raises ConfigError for
    anything else."""
    return tuple(map(_axis, texts))


def _axis(text: str) -> Axis:
    place, separator, name = text.rpartition("=")
    name_of_input, _, number = place.rpartition(".")
    is_whole = not separator
    if not name.isidentifier() or not (is_whole or (name_of_input and re.fullmatch(r"\d{1,2}", number))):
        raise ConfigError(f"--dynamic {text}: expected NAME or INPUT.AXIS=NAME", hint=DYNAMIC_HINT)
    return Axis(input=name_of_input, axis=0 if is_whole else int(number), name=name)
