"""Chooses the samples that ship with a package, and writes them with a model's outputs to one file.

A sample is included completely or not at all. Its tensors are named `NUMBER.input.NAME` and `NUMBER.output.NAME`, with
the model's own names; random outputs are left out. If a recipe is shorter than the values of an input, the file has
`NUMBER.recipe.NAME` instead, four INT64 that a program can use without a parser. `__metadata__` has the same as JSON
under `generated`: name of the missing tensor -> kind, element, shape, seed, low, high, row.
"""

import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from packager.core.characters import to_json
from packager.core.values import ElementType, Signature
from packager.vectors import generated, safetensors
from packager.vectors.generated import ValuesRecipe
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
"""Types that are compared with a tolerance, as in parity; values of all others must be equal."""
MAX_SAMPLES = 8
"""Maximum number of samples: a self-test runs on a phone, while its user waits."""
MAX_TENSORS = 512
"""Maximum number of tensors: generated classes list the location of each, and a JVM method has at most 64 KiB of
code."""
NUMPY_OVERHEAD = 5
"""Maximum size of numpy's values relative to the file: strings have four bytes a character."""
NO_RECIPES: Mapping[str, ValuesRecipe] = {}


@dataclass(frozen=True, kw_only=True)
class Computed:
    """The results of a graph."""

    samples: tuple[Path, ...]
    """.npz keyed by input name"""
    outputs: tuple[Path, ...]
    """for every sample a folder with `0.npy`, `1.npy` ..., one for each output in the model's order"""
    left_out: frozenset[int] = frozenset()
    """outputs that differ between runs"""
    recipes: tuple[Mapping[str, ValuesRecipe], ...] = ()
    """for every sample the recipes of its inputs; empty for samples without recipes"""


@dataclass(frozen=True, kw_only=True)
class Allowed:
    """Tolerance of an output."""

    rtol: float
    """the largest error may be atol + rtol * scale, where its type is one of `MEASURED`"""
    atol: float
    scale: float
    """over all samples, from the comparison at the build"""
    mismatches: int = 0
    """values of other types that may differ, and numbers that may be NaN or infinite in only one of the two"""


@dataclass(frozen=True, kw_only=True)
class Vectors:
    """The golden vectors of a file of a model, and their tolerances."""

    golden: GoldenFile
    allowed: Mapping[str, Allowed]
    """by output, as checked when the package was built"""


Golden = Mapping[tuple[str, str], Vectors]
"""(model, sha256 of a file that it ships as) -> its vectors, if it has any."""

NO_VECTORS: Golden = {}


@dataclass(frozen=True, kw_only=True)
class Content:
    """The content of a file."""

    tensors: "Mapping[str, numpy.ndarray]"
    recipes: Mapping[str, ValuesRecipe]
    """by the name of the tensor that they generate"""
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

    Returns the reason if no sample can ship, and writes no file; empty if there is one.
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
    number: int, signature: Signature, sample: Path, outputs: Mapping[int, Path], recipes: Mapping[str, ValuesRecipe]
) -> Content:
    """A sample by the names in the file; for inputs in `recipes` only the recipe."""
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


def _stored_bytes(sample: Path, recipes: Mapping[str, ValuesRecipe]) -> int:
    """Size of those inputs of an .npz file that are not in `recipes`."""
    with zipfile.ZipFile(sample) as archive:
        return sum(each.file_size for each in archive.infolist() if each.filename.removesuffix(".npy") not in recipes)


def _size(file: Path) -> int:
    return file.stat().st_size


def _too_large(content: Content, max_bytes: int) -> str:
    return reason_too_large(max_bytes) if content.size_bytes() > max_bytes else ""


def _fault(signature: Signature, content: Content, number: int) -> str:
    """Why an app could not run the newest sample; empty if it can."""
    if len(content.tensors) > MAX_TENSORS:
        return f"a sample has more than {MAX_TENSORS} inputs and outputs"
    sizes: dict[str, int] = {}
    for spec in signature.inputs:
        shape = content.shape(f"{number}.input.{spec.name}")
        if len(shape) != len(spec.shape):
            return f"the samples give input '{spec.name}' {len(shape)} axes, an app passes {len(spec.shape)}"
        for dimension, size in zip(spec.shape, shape, strict=True):
            if isinstance(dimension, str) and sizes.setdefault(dimension, size) != size:
                return f"the samples have several sizes for dimension '{dimension}', an app has one"
    return ""
