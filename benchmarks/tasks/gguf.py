"""Reads GGUF files: the facts and the tensors of a language model, as llama.cpp packs them."""

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy

from benchmarks.tasks.task import Array

NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
STRING, LIST = 8, 9
F32, Q4_1, Q8_0 = 0, 3, 8
BLOCK = 32
"""weights that share a scale"""
PACKED = {
    Q4_1: numpy.dtype([("scale", "<f2"), ("least", "<f2"), ("codes", "u1", BLOCK // 2)]),
    Q8_0: numpy.dtype([("scale", "<f2"), ("codes", "i1", BLOCK)]),
}
ALIGNMENT = 32


@dataclass(frozen=True, kw_only=True)
class Gguf:
    facts: dict[str, Any]
    tensors: dict[str, Array]
    """float32, in the order of PyTorch's dimensions"""


def read(path: Path) -> Gguf:
    reader = _Reader(path.read_bytes())
    count, facts_count = reader.number("Q"), reader.number("Q")
    facts = {reader.string(): reader.value(reader.number("I")) for _ in range(facts_count)}
    described = [reader.tensor() for _ in range(count)]
    start = -(-reader.place // ALIGNMENT) * ALIGNMENT
    data = memoryview(reader.data)[start:]
    return Gguf(facts=facts, tensors={name: _unpacked(data[at:], kind, shape) for name, shape, kind, at in described})


class _Reader:
    def __init__(self, data: bytes) -> None:
        self.data, self.place = data, 4
        if data[:4] != b"GGUF" or self.number("I") != 3:
            raise ValueError("not a GGUF file of version 3")

    def number(self, form: str) -> Any:
        (value,) = struct.unpack_from(f"<{form}", self.data, self.place)
        self.place += struct.calcsize(form)
        return value

    def string(self) -> str:
        size = self.number("Q")
        self.place += size
        return self.data[self.place - size : self.place].decode("utf-8")

    def value(self, kind: int) -> Any:
        if kind == STRING:
            return self.string()
        if kind != LIST:
            return self.number(NUMBERS[kind])
        inner, count = self.number("I"), self.number("Q")
        return [self.value(inner) for _ in range(count)]

    def tensor(self) -> tuple[str, list[int], int, int]:
        """Name, shape, kind and place of a tensor."""
        name, rank = self.string(), self.number("I")
        shape = [self.number("Q") for _ in range(rank)]
        return name, shape[::-1], self.number("I"), self.number("Q")


def _unpacked(data: memoryview, kind: int, shape: list[int]) -> Array:
    size = int(numpy.prod(shape))
    if kind == F32:
        return numpy.frombuffer(data, "<f4", size).reshape(shape)
    blocks = numpy.frombuffer(data, PACKED[kind], size // BLOCK)
    scale, codes = blocks["scale"].astype(numpy.float32)[:, None], blocks["codes"]
    if kind == Q8_0:
        return (codes * scale).reshape(shape)
    halves = numpy.concatenate([codes & 15, codes >> 4], axis=1)
    return (halves * scale + blocks["least"].astype(numpy.float32)[:, None]).reshape(shape)
