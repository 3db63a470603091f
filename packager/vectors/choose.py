"""Chooses the samples that travel with a package, and keeps them with what a model makes of them in one file.

A sample is whole or left out. Its tensors are named `NUMBER.input.NAME` and `NUMBER.output.NAME`, with the model's own
names; outputs that are random are not among them. Where a recipe is shorter than the values of an input it stands there
as `NUMBER.recipe.NAME`, four INT64 that a program can use without a parser. `__metadata__` says the same as JSON under
`generated`: name of the tensor that is not there -> kind, element, shape, seed, low, high, row.
"""

import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from packager.core.characters import to_json
from packager.core.values import ElementType, Signature
from packager.vectors import generated, safetensors
from packager.vectors.generated import Recipe
from packager.vectors.reading import GENERATED, GoldenFile

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
NO_RECIPES: Mapping[str, Recipe] = {}


@dataclass(frozen=True, kw_only=True)
class Computed:
    """What a graph computes."""

    samples: tuple[Path, ...]
    """.npz keyed by input name"""
    outputs: tuple[Path, ...]
    """for every sample a folder with `0.npy`, `1.npy` ..., one for each output in the model's order"""
    left_out: frozenset[int] = frozenset()
    """outputs that are not the same in every run"""
    recipes: tuple[Mapping[str, Recipe], ...] = ()
    """for every sample what inputs of it were made of; empty for samples that nobody can make anew"""


@dataclass(frozen=True, kw_only=True)
class Allowed:
    """How far an output may be off."""

    rtol: float
    """the largest error may be atol + rtol * scale, where its type is one of `MEASURED`"""
    atol: float
    scale: float
    """over all samples, as the comparison at the build had it"""
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


@dataclass(frozen=True, kw_only=True)
class Content:
    """What a file is to hold."""

    tensors: "Mapping[str, numpy.ndarray]"
    recipes: Mapping[str, Recipe]
    """by the name of the tensor that they make"""
    about: Mapping[str, str]

    def joined(self, other: "Content") -> "Content":
        return replace(self, tensors={**self.tensors, **other.tensors}, recipes={**self.recipes, **other.recipes})

    def metadata(self) -> dict[str, str]:
        if not self.recipes:
            return dict(self.about)
        documents = {name: generated.to_json(recipe) for name, recipe in sorted(self.recipes.items())}
        return {**self.about, GENERATED: to_json(documents)}

    def shape(self, name: str) -> tuple[int, ...]:
        return self.recipes[name].shape if name in self.recipes else self.tensors[name].shape

    def size_bytes(self) -> int:
        return safetensors.size_of(self.tensors, self.metadata())


def write(path: Path, signature: Signature, computed: Computed, about: Mapping[str, str], *, max_bytes: int) -> str:
    """Writes the samples that fit into `max_bytes` to `path`, with `about` as metadata.

    Says why there is no file where none of them can travel; empty when there is one.
    """
    compared = [index for index in range(len(signature.outputs)) if index not in computed.left_out]
    if not compared:
        return "all its outputs are random"
    content = Content(tensors={}, recipes={}, about=about)
    taken, reason = 0, "there are no samples"
    recipes = computed.recipes or (NO_RECIPES,) * len(computed.samples)
    for sample, outputs, known in zip(computed.samples, computed.outputs, recipes, strict=True):
        if taken == MAX_SAMPLES:
            break
        files = {index: outputs / f"{index}.npy" for index in compared}
        shorter = {name: recipe for name, recipe in known.items() if recipe.is_shorter}
        if _stored_bytes(sample, shorter) + sum(map(_size, files.values())) > NUMPY_OVERHEAD * max_bytes:
            reason = reason_too_large(max_bytes)
            continue
        more = content.joined(_content(taken, signature, sample, files, shorter))
        if fault := _fault(signature, more, taken) or _too_large(more, max_bytes):
            reason = fault
            continue
        content = more
        taken += 1
    if taken:
        safetensors.write(path, content.tensors, content.metadata())
    return "" if taken else reason


def reason_too_large(max_bytes: int) -> str:
    return f"no sample fits into {max_bytes // 1024:,} KiB with its outputs; raise golden-max-kib in [parity]"


def _content(
    number: int, signature: Signature, sample: Path, outputs: Mapping[int, Path], recipes: Mapping[str, Recipe]
) -> Content:
    """A sample by the names in the file; of inputs in `recipes` the recipe alone."""
    import numpy

    tensors = {f"{number}.recipe.{name}": generated.stored(recipe) for name, recipe in recipes.items()}
    with numpy.load(sample, allow_pickle=False) as inputs:
        for spec in signature.inputs:
            if spec.name not in recipes:
                tensors[f"{number}.input.{spec.name}"] = inputs[spec.name]
    for index, file in outputs.items():
        tensors[f"{number}.output.{signature.outputs[index].name}"] = numpy.load(file, allow_pickle=False)
    return Content(
        tensors=tensors, recipes={f"{number}.input.{name}": each for name, each in recipes.items()}, about={}
    )


def _stored_bytes(sample: Path, recipes: Mapping[str, Recipe]) -> int:
    """What the inputs of an .npz file take that are not in `recipes`."""
    with zipfile.ZipFile(sample) as archive:
        return sum(each.file_size for each in archive.infolist() if each.filename.removesuffix(".npy") not in recipes)


def _size(file: Path) -> int:
    return file.stat().st_size


def _too_large(content: Content, max_bytes: int) -> str:
    return reason_too_large(max_bytes) if content.size_bytes() > max_bytes else ""


def _fault(signature: Signature, content: Content, number: int) -> str:
    """Why an app could not run the newest sample; empty when it can."""
    if len(content.tensors) > MAX_TENSORS:
        return f"a sample has more than {MAX_TENSORS} inputs and outputs"
    sizes: dict[str, int] = {}
    for spec in signature.inputs:
        shape = content.shape(f"{number}.input.{spec.name}")
        if len(shape) != len(spec.shape):
            return f"the samples give input '{spec.name}' {len(shape)} axes, an app gives it {len(spec.shape)}"
        for dimension, size in zip(spec.shape, shape, strict=True):
            if isinstance(dimension, str) and sizes.setdefault(dimension, size) != size:
                return f"the samples give dimension '{dimension}' several sizes, an app gives it one"
    return ""
