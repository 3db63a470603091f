"""Interface of the plug-ins that read models of other frameworks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Protocol, runtime_checkable

if TYPE_CHECKING:
    import numpy
    from onnx import ModelProto

    from packager.engines.environments.framework import Framework

Arrays = Mapping[str, "numpy.ndarray"]
"""values by the name of an input or output, in order"""


@dataclass(frozen=True, kw_only=True)
class ImportSource:
    """The model to import."""

    text: str
    """as the user has given it"""
    path: Path
    """absolute path; of a `module:function`, the folder to look for the module in"""


@dataclass(frozen=True, kw_only=True)
class Input:
    """An input of a model in its own framework."""

    name: str
    dtype: str
    """numpy's name of its element type"""
    shape: tuple[int | str, ...]
    """a name for each dynamic dimension; equal names have equal sizes"""
    limit: int = 0
    """for integers, the smallest value that is too large; 0 if unknown"""


def dimensions(name: str, shape: Sequence[int | None]) -> tuple[int | str, ...]:
    """The shape of the input `name` with names for dynamic dimensions: `batch` for the first, else `<name>_<axis>`."""
    return tuple(
        size if size is not None else "batch" if not axis else f"{name}_{axis}" for axis, size in enumerate(shape)
    )


@dataclass(frozen=True, kw_only=True)
class Converted:
    """An ONNX file, as a converter wrote it."""

    converter: str
    """name and version"""
    names: Mapping[str, str] = field(default_factory=dict)
    """inputs and outputs in the file -> their names in `Loaded.inputs` and `Loaded.run`; equal ones may be left out"""


class Loaded(Protocol):
    """A model in its own framework. Exists in the framework's environment only."""

    @property
    def made_with(self) -> str:
        """Name and version of the framework."""
        ...

    @property
    def inputs(self) -> tuple[Input, ...]: ...

    def run(self, inputs: Arrays) -> Arrays:
        """The framework's own outputs. Any exception means that it does not accept the inputs."""
        ...

    def convert(self, path: Path) -> Converted:
        """Writes the model as ONNX to `path`, with weights beside it if there are more than 2 GiB. Any exception means
        that the converter cannot."""
        ...


@runtime_checkable
class Drawing(Protocol):
    """A Loaded model that knows which random inputs reach all of its parts."""

    def draw(self, number: int, rows: int) -> Arrays:
        """Reproducible inputs by name, `rows` of them, another for each `number`."""
        ...


@runtime_checkable
class OfOperators(Protocol):
    """A Loaded model that consists of ONNX's operators, which say what numbers they are defined for."""

    @property
    def proto(self) -> "ModelProto": ...


class Importer(Protocol):
    """A plug-in, one frozen dataclass. Only its method `load` and what that returns run in the framework's
    environment; that imports the framework inside functions, and nothing of mobpack but `core` and `importers`."""

    NAME: ClassVar[str]
    """value of `--from`"""
    FRAMEWORK: ClassVar[str]
    """its name in messages"""
    SOURCES: ClassVar[str]
    """the forms of models that it reads, for people"""
    ENVIRONMENT: ClassVar["Framework | None"]
    """where `load` runs; None for mobpack's own Python"""
    RUNS_CODE: ClassVar[bool]
    """whether loading runs code that the model contains, as unpickling does: the user must allow it"""

    def reads(self, source: ImportSource) -> bool:
        """Whether this is the importer for `source`, judged by its name and first bytes. Imports nothing."""
        ...

    def load(self, source: ImportSource) -> Loaded:
        """Raises ConfigError or ModelError for a source that it cannot read; any other exception becomes a
        ModelError."""
        ...
