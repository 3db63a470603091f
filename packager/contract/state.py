"""The kind `state`: a value that the package passes from one run to the next, starting with zeros."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal, Self

from packager.contract.kind import AttachedInput, Inputs, Sizes
from packager.core.contract import StateInput
from packager.core.errors import ConfigError
from packager.core.signature import TensorSpec
from packager.core.strict_tables import STRICT
from packager.graph.writer import Writer


@dataclass(frozen=True, kw_only=True)
class CarriedInput:
    """An input whose value in each run is an output of the run before. Adds no nodes to the graph."""

    KIND: ClassVar[str] = "state"
    __pydantic_config__: ClassVar[Mapping[str, object]] = STRICT

    kind: Literal["state"] = "state"
    """kind of the input"""
    output: str
    """the output with the next state, of the input's shape and element type"""
    start_size: Literal[0, 1] | None = None
    """what open sizes are in the first run, for a state that grows: 0 or 1"""

    def within(self, folder: Path) -> Self:
        return self

    def shapes(self, spec: TensorSpec, inputs: Inputs) -> Mapping[str, Sizes]:
        """Shape with a batch of 1; every other size must be known, so that the initial zeros can be made."""
        if spec.is_static:
            return {}
        is_open = [not isinstance(size, int) for size in spec.shape]
        sizes = tuple(1 if is_open[axis] and spec.is_batch(axis) else size for axis, size in enumerate(spec.shape))
        known = tuple(size if isinstance(size, int) else None for size in sizes)
        if None in known and self.start_size is None:
            raise ConfigError(
                "a state needs a shape without open sizes",
                hint="fix the sizes in [model.NAME.shapes], or set start-size for a state that grows",
            )
        return {spec.name: known}

    def attach(self, writer: Writer, spec: TensorSpec, inputs: Inputs) -> AttachedInput:
        after = TensorSpec(name=self.output, identifier=self.output, element=spec.element, shape=spec.shape)
        state = StateInput(identifier=spec.identifier, input=spec, output=after, start_size=self.start_size or 0)
        return AttachedInput(typed=(state,), value="")
