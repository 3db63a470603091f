"""Matches the values of two graphs, and plans how many of them fit into memory at once."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from packager.verification.bisection.subject import BisectionSubject

if TYPE_CHECKING:
    from onnx import TypeProto

BYTES = {
    "FLOAT": 4,
    "DOUBLE": 8,
    "FLOAT16": 2,
    "INT8": 1,
    "INT16": 2,
    "INT32": 4,
    "INT64": 8,
    "UINT8": 1,
    "UINT16": 2,
    "UINT32": 4,
    "UINT64": 8,
    "BOOL": 1,
    "STRING": 64,
}
"""Element type -> bytes of an element in a file; ONNX Runtime does not return others as arrays. Sizes of strings are
estimates."""
COPIES = 4
"""Copies of a value that exist at once: each side's output, and the input and output of one node."""
FEW = 8
"""Number of values of unknown size that run at once; doubled the next time, if the sizes seen leave room."""


@dataclass(frozen=True, kw_only=True)
class Matched:
    """Values that both graphs compute."""

    values: tuple[str, ...]
    """in the order of the second graph"""
    notes: tuple[str, ...]
    """values of both that cannot be compared, and why"""
    sizes: Mapping[str, int]
    """bytes of those whose size is known"""


def matched(a: BisectionSubject, b: BisectionSubject, shapes: Mapping[str, Sequence[int]]) -> Matched:
    """The comparable values of `a` and `b` on inputs of these shapes."""
    known_a, known_b = a.types(shapes), b.types(shapes)
    values, notes, sizes = [], [], {}
    compared = ((a.varying & b.varying) - a.quantized - b.quantized) | set(b.outputs)
    for name in b.producers:
        if name not in a.producers or name not in compared:
            continue
        kinds = [known[name] for known in (known_a, known_b) if name in known]
        if reason := next(filter(None, map(_unfit, kinds)), ""):
            notes.append(f"'{name}' is {reason}")
            continue
        values.append(name)
        found = [size for kind in kinds if (size := _size(kind)) is not None]
        if found:
            sizes[name] = max(found)
    return Matched(values=tuple(values), notes=tuple(notes), sizes=sizes)


def _unfit(kind: "TypeProto") -> str:
    """Why a value of `kind` cannot be fetched; empty if it can, or if that is unknown."""
    if (which := kind.WhichOneof("value")) not in (None, "tensor_type"):
        return f"not a tensor but a {str(which).removesuffix('_type')}"
    element = _element(kind)
    return "" if element in ("UNDEFINED", *BYTES) else f"of {element.lower()}"


def _size(kind: "TypeProto") -> int | None:
    tensor, element = kind.tensor_type, _element(kind)
    if element not in BYTES or not tensor.HasField("shape"):
        return None
    if not all(dimension.HasField("dim_value") for dimension in tensor.shape.dim):
        return None
    count: int = math.prod(dimension.dim_value for dimension in tensor.shape.dim)
    return BYTES[element] * count


def _element(kind: "TypeProto") -> str:
    from onnx import TensorProto

    name: str = TensorProto.DataType.Name(kind.tensor_type.elem_type)
    return name


@dataclass(kw_only=True)
class ChunkPlanner:
    """Plans chunks of as many values as fit."""

    memory_bytes: int
    sizes: dict[str, int]
    """bytes of values; grows as they are seen"""
    borders: Mapping[str, tuple[str, ...]]
    """value -> the compared values that its node takes, which are needed together with it"""
    _largest_unknown: int = 0
    _allowed: int = FEW

    def chunks(self, values: Sequence[str]) -> Iterator[tuple[str, ...]]:
        """Chunks of `values` in order; each chunk is planned after the one before it has run."""
        start = 0
        while start < len(values):
            end = self._end(values, start)
            yield tuple(values[start:end])
            start, self._allowed = end, 2 * self._allowed

    def see(self, name: str, size_bytes: int) -> None:
        if name not in self.sizes:
            self._largest_unknown = max(self._largest_unknown, size_bytes)
        self.sizes[name] = size_bytes

    def _end(self, values: Sequence[str], start: int) -> int:
        """The end of the chunk that begins at `start`: at least one value later."""
        held: set[str] = set()
        total = unknown = 0
        for end in range(start, len(values)):
            more = {values[end], *self.borders[values[end]]} - held
            held |= more
            unknown += len(more - self.sizes.keys())
            total += COPIES * sum(self.sizes.get(name, self._largest_unknown) for name in more)
            if end > start and (total > self.memory_bytes or unknown > self._allowed):
                return end
        return len(values)
