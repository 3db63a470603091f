"""Compares what a model computes on this machine with what it computed on the build machine."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy
from numpy.typing import NDArray

from .descriptor import Descriptor, Tolerance

Tensors = Mapping[str, NDArray[Any]]
DTYPES = {
    "F64": "float64",
    "I64": "int64",
    "U64": "uint64",
    "F32": "float32",
    "I32": "int32",
    "U32": "uint32",
    "F16": "float16",
    "I16": "int16",
    "U16": "uint16",
    "I8": "int8",
    "U8": "uint8",
    "BOOL": "bool",
}
"""NumPy's names of the types of safetensors"""
FRACTIONS = {"float16": 11, "float32": 24, "float64": 53}
"""bits of a random word that a float uses"""
MEASURED = ("float16", "float32", "float64", "int8", "uint8")
"""types that are compared with a tolerance; values of all others must be equal"""
GAMMA, FACTORS = 0x9E3779B97F4A7C15, ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1))
"""constants of SplitMix64 (Steele, Lea and Flood, 2014)"""


@dataclass(frozen=True)
class OutputTest:
    """One output of one sample in a self-test."""

    name: str
    """its name in the model"""
    sample: int
    """number of the sample, from 0"""
    max_abs_error: float
    """the largest difference from the expected values; 0 for values that must be equal"""
    allowed: float
    """the largest difference that is allowed"""
    failure: str
    """why the output failed; empty when it passed"""

    @property
    def passed(self) -> bool:
        return not self.failure

    def __str__(self) -> str:
        words = (
            f"FAILED, {self.failure}" if self.failure else f"error {self.max_abs_error:.1e}, allowed {self.allowed:.1e}"
        )
        return f"{self.name}, sample {self.sample}: {words}"


@dataclass(frozen=True)
class SelfTest:
    """The result of a self-test."""

    model: str
    provider: str
    outputs: tuple[OutputTest, ...]

    @property
    def passed(self) -> bool:
        """Whether there are outputs, and all are as expected."""
        return bool(self.outputs) and not self.failed

    @property
    def failed(self) -> bool:
        """Whether an output is not as expected. A test without outputs neither passed nor failed."""
        return not all(each.passed for each in self.outputs)

    def __str__(self) -> str:
        verdict = "FAILED" if self.failed else "passed" if self.outputs else "nothing to test"
        return "\n".join(
            [f"Self-test of {self.model} on {self.provider}: {verdict}", *(f"  {each}" for each in self.outputs)]
        )


def tested(descriptor: Descriptor, folder: Path, run: Callable[[Tensors], Tensors]) -> Iterator[OutputTest]:
    """Runs the samples of a model, whose files are in `folder`, and compares the outputs."""
    if not descriptor.golden:
        return
    for number, (inputs, expected) in enumerate(samples(folder / descriptor.golden)):
        found = run(inputs)
        for name in sorted(expected):
            yield compared(name, number, expected[name], found[name], descriptor.tolerances[name])


def compared(name: str, sample: int, expected: NDArray[Any], found: NDArray[Any], tolerance: Tolerance) -> OutputTest:
    """An output, compared with that of a sample."""
    allowed = tolerance.atol + tolerance.rtol * tolerance.scale
    error, failure = 0.0, ""
    if expected.shape != found.shape:
        failure = f"shape {found.shape} instead of {expected.shape}"
    elif expected.dtype.name not in MEASURED:
        differing = int((expected != found).sum())
        failure = f"values that differ: {differing}" if differing > tolerance.mismatches else ""
    else:
        wanted, given = expected.astype(numpy.float64), found.astype(numpy.float64)
        both = numpy.isfinite(wanted) & numpy.isfinite(given)
        error = float(numpy.abs(wanted - given)[both].max(initial=0))
        differing = int((~both & (wanted != given) & ~(numpy.isnan(wanted) & numpy.isnan(given))).sum())
        if differing > tolerance.mismatches:
            failure = f"values that differ: {differing}"
        elif error > allowed:
            failure = f"error {error:.1e}, allowed {allowed:.1e}"
    return OutputTest(name, sample, error, allowed, failure)


def samples(path: Path) -> Iterator[tuple[dict[str, NDArray[Any]], dict[str, NDArray[Any]]]]:
    """Inputs and expected outputs of each sample, by name, in a file in safetensors' format. Strings lie in it one
    after the other, each behind its length in four bytes; inputs of random numbers are made anew."""
    content = path.read_bytes()
    [length] = struct.unpack("<Q", content[:8])
    header = json.loads(content[8 : 8 + length])
    about = header.pop("__metadata__")
    texts = json.loads(about.get("strings", "{}"))
    recipes = json.loads(about.get("generated", "{}"))
    count = 1 + max((int(key.split(".", 1)[0]) for key in header), default=-1)
    found: list[tuple[dict[str, NDArray[Any]], dict[str, NDArray[Any]]]] = [({}, {}) for _ in range(count)]
    for key, place in header.items():
        number, role, name = key.split(".", 2)
        start, end = (8 + length + offset for offset in place["data_offsets"])
        inputs, outputs = found[int(number)]
        if role == "recipe":
            inputs[name] = made_of(recipes[f"{number}.input.{name}"])
        else:
            shape = texts.get(key, place["shape"])
            values = strings(content[start:end]) if key in texts else numbers(place["dtype"], content[start:end])
            (inputs if role == "input" else outputs)[name] = values.reshape(shape)
    yield from found


def numbers(dtype: str, content: bytes) -> NDArray[Any]:
    return numpy.frombuffer(content, numpy.dtype(DTYPES[dtype]).newbyteorder("<"))


def strings(content: bytes) -> NDArray[Any]:
    found, start = [], 0
    while start < len(content):
        [length] = struct.unpack_from("<I", content, start)
        found.append(content[start + 4 : start + 4 + length].decode())
        start += 4 + length
    return numpy.array(found, object)


def made_of(recipe: Mapping[str, Any]) -> NDArray[Any]:
    """The random values of a recipe: those of the words that follow its seed."""
    shape = tuple(recipe["shape"])
    count = int(numpy.prod(shape, dtype=numpy.int64))
    words = numpy.arange(1, count + 1, dtype=numpy.uint64) * numpy.uint64(GAMMA) + numpy.uint64(int(recipe["seed"], 16))
    for shift, factor in FACTORS:
        words = (words ^ (words >> numpy.uint64(shift))) * numpy.uint64(factor)
    dtype = {"float": "float32", "double": "float64"}.get(recipe["element"], recipe["element"])
    if dtype in FRACTIONS:
        bits = FRACTIONS[dtype]
        half = 2 ** (bits - 1)
        values = ((words >> numpy.uint64(64 - bits)).astype(numpy.int64) - half) / half
    else:
        span = numpy.uint64(recipe["high"] - recipe["low"])
        values = ((words >> numpy.uint64(32)) * span >> numpy.uint64(32)).astype(numpy.int64) + recipe["low"]
        if recipe["row"]:
            values[:: recipe["row"]] = recipe["high"] - 1
    found: NDArray[Any] = values.astype(dtype).reshape(shape)
    return found
