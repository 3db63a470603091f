"""What an input kind and an output kind are: a table of mobpack.toml that can write itself into a graph."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Protocol, Self

from packager.contract.writer import Writer
from packager.core.contract import TypedInput, TypedOutput
from packager.core.signature import TensorSpec


@dataclass(frozen=True, kw_only=True)
class Placement:
    """Where the upright picture lies in what the core sees: `core = scale * upright + offset`, both in pixels.

    All are names of values in the graph: double [1], most of them of a length that only the running model knows. No
    provider of a phone takes what is computed of those, so that nothing of it is computed in 16 bits.
    """

    scale_x: str
    scale_y: str
    offset_x: str
    offset_y: str
    width: str
    """of the upright picture"""
    height: str
    core_width: int
    """of what the core sees"""
    core_height: int
    nothing: str = ""
    """as in Writer"""


@dataclass(frozen=True, kw_only=True)
class AttachedInput:
    """What a kind has put ahead of an input."""

    typed: TypedInput | None
    """None for an input that nobody passes any more"""
    value: str
    """of the graph: what the core takes from now on, of the input's element type and shape; empty when it goes on to
    take the input itself"""
    placement: Placement | None = None
    """of a picture"""
    shapes: Mapping[str, tuple[tuple[int, ...], ...]] = field(default_factory=dict)
    """as in Contract"""
    values: Mapping[str, tuple[int, ...]] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class AttachedOutput:
    """What a kind has put behind an output."""

    typed: TypedOutput
    taken: tuple[str, ...]
    """outputs of the core that are no outputs any more"""


@dataclass(frozen=True, kw_only=True)
class Core:
    """What an output kind may ask about the model it lies behind."""

    outputs: Mapping[str, TensorSpec]
    """by name, those of other kinds among them"""
    placements: Mapping[str, Placement]
    """by the name of the input"""
    metadata: Mapping[str, str] = field(default_factory=dict)
    """of the model file"""


class InputKind(Protocol):
    """The fields are the keys of `[model.NAME.inputs.INPUT]`, `kind` the first of them."""

    KIND: ClassVar[str]

    def within(self, folder: Path) -> Self:
        """The same with paths made absolute."""
        ...

    def shape(self, spec: TensorSpec) -> tuple[int, ...] | None:
        """The static shape that the input `spec` has to be given before anything else; None leaves it as it is.

        Raises ConfigError when the keys and the input do not go together: the message ends what follows
        `model.NAME.inputs.INPUT: `.
        """
        ...

    def attach(self, writer: Writer, spec: TensorSpec) -> AttachedInput:
        """Writes the nodes that make `spec` out of what an app passes. Raises ConfigError as `shape`."""
        ...


class OutputKind(Protocol):
    """The fields are the keys of `[model.NAME.outputs.OUTPUT]`."""

    KIND: ClassVar[str]

    def within(self, folder: Path) -> Self:
        """The same with paths made absolute."""
        ...

    def attach(self, writer: Writer, spec: TensorSpec, core: Core) -> AttachedOutput:
        """Writes the nodes that make what an app gets out of `spec`. Raises ConfigError as those of inputs do."""
        ...
