"""The kind `values`: numbers with names and units, such as those of a regression or a time series."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import ClassVar, Literal, Self

from packager.contract.kind import AttachedOutput, Core
from packager.contract.labels import refuse_lines, refuse_names
from packager.contract.scores import floats, in_words, sizes_of_one
from packager.core.contract import ValuesOutput
from packager.core.errors import ConfigError, SettingError
from packager.core.signature import ElementType, TensorSpec
from packager.core.strict_tables import STRICT
from packager.graph.writer import Writer


@dataclass(frozen=True, kw_only=True)
class Values:
    """Numbers with names and units: `[1, n]`, or `[1, steps, n]` of a series; of one name, `[1, steps]` too.

    Apps get `number * scale + offset`, computed in 32 bits: the means and deviations that a model was trained with are
    undone in the graph.
    """

    KIND: ClassVar[str] = "values"
    __pydantic_config__: ClassVar[Mapping[str, object]] = STRICT

    kind: Literal["values"] = "values"
    """kind of the output"""
    names: tuple[str, ...]
    """name of each number, in the model's order"""
    units: tuple[str, ...] = ()
    """unit of each number, such as `"Hz"`; an empty text for none"""
    scale: float | tuple[float, ...] = 1.0
    """factor of all numbers, or of each"""
    offset: float | tuple[float, ...] = 0.0
    """what is added to all numbers, or to each, after the factor"""

    def __post_init__(self) -> None:
        """Raises SettingError."""
        refuse_names(self.names, hint="name each number of the output")
        refuse_lines(self.units, "units")
        if self.units and len(self.units) != len(self.names):
            raise SettingError(
                f"units has {len(self.units)} texts for {len(self.names)} names",
                hint='write one unit for each name, "" for none',
            )
        for key, given in (("scale", self.scale), ("offset", self.offset)):
            numbers = given if isinstance(given, tuple) else (given,)
            if len(numbers) not in {1, len(self.names)} or not all(map(isfinite, numbers)):
                raise SettingError(
                    f"{key} is not one number, nor one for each of {len(self.names)} names",
                    hint="write finite numbers in the order of names",
                )

    def within(self, folder: Path) -> Self:
        return self

    def attach(self, writer: Writer, spec: TensorSpec, core: Core) -> AttachedOutput:
        core.refuse_batch(self.KIND)
        count = len(self.names)
        steps = _steps(spec, count)
        numbers = writer.node("Reshape", floats(writer, spec), [-1 if steps is None else steps, count])
        for op, given, nothing in (("Mul", self.scale, 1.0), ("Add", self.offset, 0.0)):
            each = list(given) if isinstance(given, tuple) else [given]
            if any(number != nothing for number in each):
                numbers = writer.node(op, numbers, each)
        shape = (f"{spec.name}.steps" if steps is None else steps, count)
        typed = ValuesOutput(
            identifier=spec.identifier,
            numbers=writer.output(numbers, "numbers", ElementType.FLOAT, shape),
            labels=self.names,
            units=self.units or ("",) * count,
        )
        return AttachedOutput(typed=typed, taken=(spec.name,))


def _steps(spec: TensorSpec, count: int) -> int | None:
    """Number of steps of `count` numbers each; None for an open one. Raises ConfigError for another size."""
    sizes = [size for size in sizes_of_one(spec) if size != 1]
    ours = sizes.pop() if count > 1 and sizes else 1
    if (ours != count and isinstance(ours, int)) or len(sizes) > 1 or 0 in sizes:
        raise ConfigError(
            f"the output is {in_words(spec)}: not {count} named numbers for each step",
            hint=f"its shape must be [1, {count}] or [1, steps, {count}]: write as many names as it has numbers",
        )
    steps = sizes[0] if sizes else 1
    return steps if isinstance(steps, int) else None
