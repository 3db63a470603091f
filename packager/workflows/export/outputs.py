"""Outputs of a module as named tensors."""

import dataclasses
import math
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from packager.core.errors import ConfigError, ModelError

if TYPE_CHECKING:
    from torch import Tensor

HINT = "return tensors: one, or a tuple, list, dict or dataclass of them"


def named_outputs(value: Any, taken: Iterable[str], given: tuple[str, ...] = ()) -> dict[str, "Tensor"]:
    """The tensors in the module's return value, in PyTorch's order, with names that differ from the input names
    `taken`.

    Names come from keys and fields; tuple items are `output` and a number; `given` replaces all names. Raises
    ModelError for a value that is not a tensor, ConfigError if the number of names in `given` differs.
    """
    found = list(_tensors(value, ""))
    if not found:
        raise ModelError("the module returns no tensor", hint=HINT)
    if given and len(given) != len(found):
        raise ConfigError(
            f"--output-names gives {len(given)} names, the module returns {len(found)}: "
            f"{', '.join(name or 'output' for name, _ in found)}",
            hint="name all of them, in this order",
        )
    names = given or _unique([name or "output" for name, _ in found], set(taken))
    if clash := sorted({*taken} & {*names}):
        raise ConfigError(f"--output-names: '{clash[0]}' is an input", hint="choose another name for the output")
    return dict(zip(names, (tensor for _, tensor in found), strict=True))


def register(value: Any) -> None:
    """Registers the user's dataclasses in `value` with PyTorch's exporter, which otherwise rejects them as outputs."""
    import torch
    from torch.utils import _pytree

    if dataclasses.is_dataclass(value) and not isinstance(value, type | Mapping):
        if type(value) not in _pytree.SUPPORTED_NODES:
            torch.export.register_dataclass(type(value))
        value = [getattr(value, field.name) for field in dataclasses.fields(value)]
    inner = value.values() if isinstance(value, Mapping) else value
    if isinstance(value, Mapping | tuple | list):
        for each in inner:
            register(each)


def distance(one: "Tensor", other: "Tensor") -> float:
    """The largest absolute difference of two tensors; infinity for different shapes, or NaN against a number."""
    if one.shape != other.shape:
        return math.inf
    is_other = (one != other) & ~((one != one) & (other != other))
    if not is_other.any():
        return 0.0
    largest = float((one.double() - other.double()).abs()[is_other].max())
    return math.inf if math.isnan(largest) else largest


def _tensors(value: Any, prefix: str) -> Iterator[tuple[str, "Tensor"]]:
    import torch

    if isinstance(value, torch.Tensor):
        yield prefix, value
    elif value is not None:  # the exporter omits None as well
        for key, inner in _parts(value, prefix):
            name = f"{prefix}_{key}" if prefix else f"output_{key}" if isinstance(key, int) else str(key)
            yield from _tensors(inner, name)


def _parts(value: Any, prefix: str) -> Iterable[tuple[str | int, Any]]:
    if isinstance(value, Mapping):
        return [(str(key), inner) for key, inner in value.items()]
    if hasattr(value, "_fields"):
        return zip(value._fields, value, strict=True)
    if isinstance(value, tuple | list):
        return enumerate(value) if len(value) > 1 or prefix else [("output", value[0])] if value else ()
    if dataclasses.is_dataclass(value):
        return [(field.name, getattr(value, field.name)) for field in dataclasses.fields(value)]
    where = f"output '{prefix}' of the module" if prefix else "what the module gives"
    raise ModelError(f"{where} is a {type(value).__name__}, not a tensor", hint=HINT)


def _unique(names: list[str], taken: set[str]) -> tuple[str, ...]:
    """`names` made unique: `_out` is added to those in `taken`, a number to repeated ones."""
    found: list[str] = []
    for name in names:
        free = f"{name}_out" if name in taken else name
        candidates = (free, *(f"{free}_{number}" for number in range(1, len(names) + len(taken) + 1)))
        found.append(next(each for each in candidates if each not in taken and each not in found))
    return tuple(found)
