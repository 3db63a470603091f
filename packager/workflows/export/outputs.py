"""What a module gives, as tensors with names."""

import dataclasses
import math
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from packager.core.errors import ConfigError, ModelError

if TYPE_CHECKING:
    from torch import Tensor

HINT = "return tensors: one, or a tuple, list, dict or dataclass of them"


def named_outputs(value: Any, taken: Iterable[str], given: tuple[str, ...] = ()) -> dict[str, "Tensor"]:
    """The tensors in what a module gave, in PyTorch's order; nothing has one of the names `taken` by inputs.

    Keys and fields are names, places in a tuple are numbers after `output`; `given` replaces them all. Raises
    ModelError for what is no tensor, ConfigError when `given` has another number of names.
    """
    found = list(_tensors(value, ""))
    if not found:
        raise ModelError("the module gives no tensor", hint=HINT)
    if given and len(given) != len(found):
        raise ConfigError(
            f"--output-names gives {len(given)} names, the module gives {len(found)}: "
            f"{', '.join(name or 'output' for name, _ in found)}",
            hint="name all of them, in this order",
        )
    names = given or _unique([name or "output" for name, _ in found], set(taken))
    if clash := sorted({*taken} & {*names}):
        raise ConfigError(f"--output-names: '{clash[0]}' is an input", hint="give the output another name")
    return dict(zip(names, (tensor for _, tensor in found), strict=True))


def register(value: Any) -> None:
    """Teaches PyTorch's exporter the user's dataclasses in `value`: without it, it refuses them as outputs."""
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
    """The largest difference of two tensors; infinity for other shapes, and for NaN where the other has a number."""
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
    elif value is not None:  # the exporter leaves it out, too
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
    """`names`, with `_out` behind those that are `taken`, and numbers behind those that come twice."""
    found: list[str] = []
    for name in names:
        free = f"{name}_out" if name in taken else name
        candidates = (free, *(f"{free}_{number}" for number in range(1, len(names) + len(taken) + 1)))
        found.append(next(each for each in candidates if each not in taken and each not in found))
    return tuple(found)
