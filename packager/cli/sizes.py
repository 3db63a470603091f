"""Sizes of dynamic dimensions that a model runs with, as written by `mobpack init`."""

import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from packager.core.console import Console
    from packager.core.values import Model


@dataclass(frozen=True, kw_only=True)
class SearchedShapes:
    """Result of a search for random inputs that the model runs with."""

    shapes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """by input; empty if nothing was found"""
    refusal: str = ""
    """why random inputs do not run"""

    def symbols(self, model: "Model") -> dict[str, set[int]]:
        """Name of a dynamic dimension -> its sizes in the inputs: several if unrelated dimensions share the name."""
        found: dict[str, set[int]] = {}
        for spec in model.signature.inputs:
            sizes = self.shapes.get(spec.name, (1,) * len(spec.shape))
            for declared, size in zip(spec.shape, sizes, strict=True):
                if isinstance(declared, str):
                    found.setdefault(declared, set()).add(size)
        return found


def found_sizes(model: "Model", console: "Console") -> SearchedShapes:
    """Runs a model with dynamic dimensions on random inputs to find sizes."""
    from packager.core.errors import ModelError
    from packager.core.values import baseline
    from packager.verification import parity

    inputs = model.signature.inputs
    if all(spec.is_static for spec in inputs):
        return SearchedShapes()
    with console.step("find sizes that the model runs with"), tempfile.TemporaryDirectory() as scratch:
        try:
            found = parity.random_inputs(baseline(model), Path(scratch), count=1, seed=0).found
        except ModelError as error:
            return SearchedShapes(refusal=error.message)
    return SearchedShapes(shapes={spec.name: shape for spec, shape in zip(inputs, found.shapes, strict=True)})


def lines(model: "Model", sizes: SearchedShapes) -> Iterator[str]:
    """`"batch" = 1`, and shapes of whole inputs where a name is missing or names several sizes."""
    from packager.core.characters import toml_string

    symbols = sizes.symbols(model)
    unambiguous = {name: next(iter(found)) for name, found in symbols.items() if len(found) == 1}
    yield from (f"{toml_string(name)} = {size}" for name, size in unambiguous.items())
    for spec in model.signature.inputs:
        if all(isinstance(each, int) or each in unambiguous for each in spec.shape):
            continue
        shape = sizes.shapes.get(spec.name, tuple(each if isinstance(each, int) else 1 for each in spec.shape))
        yield f"{toml_string(spec.name)} = {list(shape)}"
