"""Chooses the samples that travel with a package, and keeps them with what a model makes of them in one file.

A sample is whole or left out. Its tensors are named `NUMBER.input.NAME` and `NUMBER.output.NAME`, with the model's own
names; outputs that are random are not among them.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from packager import tools
from packager.values import ElementType, Signature
from packager.vectors import safetensors
from packager.vectors.safetensors import Place

if TYPE_CHECKING:
    import numpy

MEASURED = (
    ElementType.FLOAT,
    ElementType.DOUBLE,
    ElementType.FLOAT16,
    ElementType.BFLOAT16,
    ElementType.INT8,
    ElementType.UINT8,
)
"""Types whose values may be a little off, as parity compares them; those of all others must be equal."""
MAX_SAMPLES = 8
"""A self-test runs on a phone, while somebody waits."""
MAX_TENSORS = 512
"""Generated classes say where each of them lies, and the JVM takes 64 KiB of code that does so."""
NUMPY_OVERHEAD = 5
"""What numpy takes for values, at most, beside what the file takes: strings have four bytes a character there."""


@dataclass(frozen=True, kw_only=True)
class Computed:
    """What a graph computes."""

    samples: tuple[Path, ...]
    """.npz keyed by input name"""
    outputs: tuple[Path, ...]
    """for every sample a folder with `0.npy`, `1.npy` ..., one for each output in the model's order"""
    left_out: frozenset[int] = frozenset()
    """outputs that are not the same in every run"""


@dataclass(frozen=True, kw_only=True)
class GoldenSample:
    """Where the tensors of a sample lie, by their names in the model."""

    inputs: Mapping[str, Place]
    outputs: Mapping[str, Place]


@dataclass(frozen=True, kw_only=True)
class GoldenFile:
    """Samples and what must come of them."""

    path: Path
    sha256: str
    size_bytes: int
    about: Mapping[str, str]
    """its `__metadata__`"""
    samples: tuple[GoldenSample, ...]


@dataclass(frozen=True, kw_only=True)
class Allowed:
    """How far an output may be off."""

    share: float
    """largest error as a share of the output's largest value, where its type is one of `MEASURED`"""
    mismatches: int = 0
    """values of other types that may differ, and numbers that may be NaN or infinite on one side alone"""


@dataclass(frozen=True, kw_only=True)
class Vectors:
    """What a file of a model must compute, and how close it must come."""

    golden: GoldenFile
    allowed: Mapping[str, Allowed]
    """by output, as it was checked when the package was built"""


Golden = Mapping[tuple[str, str], Vectors]
"""(model, sha256 of a file that it ships as) -> its vectors; a model without any is not in it."""

NO_VECTORS: Golden = {}


def write(path: Path, signature: Signature, computed: Computed, about: Mapping[str, str], *, max_bytes: int) -> str:
    """Writes the samples that fit into `max_bytes` to `path`, with `about` as metadata.

    Says why there is no file where none of them can travel; empty when there is one.
    """
    compared = [index for index in range(len(signature.outputs)) if index not in computed.left_out]
    if not compared:
        return "all its outputs are random"
    tensors: dict[str, numpy.ndarray] = {}
    taken, reason = 0, "there are no samples"
    for sample, outputs in zip(computed.samples, computed.outputs, strict=True):
        if taken == MAX_SAMPLES:
            break
        files = [outputs / f"{index}.npy" for index in compared]
        if sum(file.stat().st_size for file in (sample, *files)) > NUMPY_OVERHEAD * max_bytes:
            reason = reason_too_large(max_bytes)
            continue
        one = dict(_arrays(taken, signature, sample, dict(zip(compared, files, strict=True))))
        if fault := _fault(signature, {**tensors, **one}, taken) or _too_large({**tensors, **one}, about, max_bytes):
            reason = fault
            continue
        tensors |= one
        taken += 1
    if taken:
        safetensors.write(path, tensors, about)
    return "" if taken else reason


def read(path: Path) -> GoldenFile:
    """What lies where in a file that `write` has written."""
    about, places = safetensors.read(path)
    found: dict[tuple[int, str], dict[str, Place]] = {}
    for key in sorted(places):
        number, role, name = key.split(".", 2)
        found.setdefault((int(number), role), {})[name] = places[key]
    numbers = sorted({number for number, _ in found})
    return GoldenFile(
        path=path,
        sha256=tools.sha256_of(path),
        size_bytes=path.stat().st_size,
        about=about,
        samples=tuple(
            GoldenSample(inputs=found.get((number, "input"), {}), outputs=found[number, "output"]) for number in numbers
        ),
    )


def reason_too_large(max_bytes: int) -> str:
    return f"no sample fits into {max_bytes // 1024:,} KiB with its outputs; raise golden-max-kib in [parity]"


def _arrays(
    number: int, signature: Signature, sample: Path, outputs: Mapping[int, Path]
) -> Iterator[tuple[str, "numpy.ndarray"]]:
    """The tensors of a sample by their names in the file."""
    import numpy

    with numpy.load(sample, allow_pickle=False) as inputs:
        for spec in signature.inputs:
            yield f"{number}.input.{spec.name}", inputs[spec.name]
    for index, file in outputs.items():
        yield f"{number}.output.{signature.outputs[index].name}", numpy.load(file, allow_pickle=False)


def _too_large(tensors: "Mapping[str, numpy.ndarray]", about: Mapping[str, str], max_bytes: int) -> str:
    return reason_too_large(max_bytes) if safetensors.size_of(tensors, about) > max_bytes else ""


def _fault(signature: Signature, tensors: "Mapping[str, numpy.ndarray]", number: int) -> str:
    """Why an app could not run the newest sample; empty when it can."""
    if len(tensors) > MAX_TENSORS:
        return f"a sample has more than {MAX_TENSORS} inputs and outputs"
    sizes: dict[str, int] = {}
    for spec in signature.inputs:
        shape = tensors[f"{number}.input.{spec.name}"].shape
        if len(shape) != len(spec.shape):
            return f"the samples give input '{spec.name}' {len(shape)} axes, an app gives it {len(spec.shape)}"
        for dimension, size in zip(spec.shape, shape, strict=True):
            if isinstance(dimension, str) and sizes.setdefault(dimension, size) != size:
                return f"the samples give dimension '{dimension}' several sizes, an app gives it one"
    return ""
