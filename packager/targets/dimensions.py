"""Sizes that the app chooses: one parameter per dynamic dimension of the inputs, the same in all languages."""

from collections.abc import Sequence
from dataclasses import dataclass

from packager.core import names
from packager.core.values import Dimension, TensorSpec

Key = Dimension | tuple[str, int]
"""name of a dimension, or input and axis of an unnamed one"""


@dataclass(frozen=True, kw_only=True)
class DimensionView:
    """A size that the app chooses, as a parameter of type Int."""

    identifier: str
    name: str
    """name in the model; empty if it has none"""
    tensor: str
    """the first input that has the dimension"""
    axis: int
    """axis in that input"""
    default: str
    """suffix of the parameter's type: ` = 1` or nothing"""
    example: str


@dataclass(frozen=True)
class Sizes:
    """The dynamic dimensions of a model's inputs as parameters."""

    views: tuple[DimensionView, ...]
    by_key: dict[Key, str]

    def labels(self, spec: TensorSpec) -> tuple[str, ...]:
        """For each axis the size itself, its parameter, or its name in the model."""
        return tuple(self._label(spec, axis) for axis in range(len(spec.shape)))

    def shape(self, spec: TensorSpec) -> str:
        """Text for documentation: `[batch, 3, 224, 224]`."""
        return f"[{', '.join(self.labels(spec))}]"

    def _label(self, spec: TensorSpec, axis: int) -> str:
        size = spec.shape[axis]
        if isinstance(size, int):
            return str(size)
        return self.by_key.get(_key(spec, axis)) or str(size or "?")


def sizes(inputs: Sequence[TensorSpec]) -> Sizes:
    """One parameter per symbolic name, and one per unnamed dimension."""
    first: dict[Key, tuple[TensorSpec, int]] = {}
    for spec in inputs:
        for axis, size in enumerate(spec.shape):
            if not isinstance(size, int):
                first.setdefault(_key(spec, axis), (spec, axis))
    wanted = [key if isinstance(key, str) else f"{spec.identifier}-dim{axis}" for key, (spec, axis) in first.items()]
    identifiers = names.identifiers(wanted, prefix="dim", taken=[spec.identifier for spec in inputs])
    views = tuple(
        _dimension(identifier, spec, axis) for identifier, (spec, axis) in zip(identifiers, first.values(), strict=True)
    )
    return Sizes(views, dict(zip(first, identifiers, strict=True)))


def _key(spec: TensorSpec, axis: int) -> Key:
    return spec.shape[axis] or (spec.name, axis)


def _dimension(identifier: str, spec: TensorSpec, axis: int) -> DimensionView:
    is_batch = spec.is_batch(axis)
    return DimensionView(
        identifier=identifier,
        name=str(spec.shape[axis] or ""),
        tensor=spec.name,
        axis=axis,
        default=" = 1" if is_batch else "",
        example="1" if is_batch else "128",
    )
