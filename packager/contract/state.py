"""What a model carries from one run to the next: the package does it for the app, zeros first."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal, Self

from packager.contract.kind import AttachedInput
from packager.contract.writer import Writer
from packager.core.contract import StateInput
from packager.core.errors import ConfigError
from packager.core.signature import TensorSpec
from packager.core.strict_tables import STRICT


@dataclass(frozen=True, kw_only=True)
class CarriedInput:
    """An input that takes in every run what an output gave in the run before. Nothing is added to the graph."""

    KIND: ClassVar[str] = "state"
    __pydantic_config__: ClassVar[Mapping[str, object]] = STRICT

    kind: Literal["state"] = "state"
    """what the input is"""
    output: str
    """the output with the next state; it has the shape and element type of the input"""

    def within(self, folder: Path) -> Self:
        return self

    def shape(self, spec: TensorSpec) -> tuple[int, ...] | None:
        """Batches are of one; every other size has to be known, or nobody could make the zeros."""
        if spec.is_static:
            return None
        is_open = [not isinstance(size, int) for size in spec.shape]
        sizes = tuple(1 if is_open[axis] and spec.is_batch(axis) else size for axis, size in enumerate(spec.shape))
        known = tuple(size for size in sizes if isinstance(size, int))
        if len(known) != len(sizes):
            raise ConfigError("a state needs a shape without open sizes", hint="fix them in [model.NAME.shapes]")
        return known

    def attach(self, writer: Writer, spec: TensorSpec) -> AttachedInput:
        after = TensorSpec(name=self.output, identifier=self.output, element=spec.element, shape=spec.shape)
        return AttachedInput(typed=StateInput(identifier=spec.identifier, input=spec, output=after), value="")
