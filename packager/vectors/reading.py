"""Reads a file of golden vectors: locates its tensors, and generates inputs that it lacks."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from packager.core import parsing
from packager.files.hashes import sha256_of
from packager.vectors import generated, safetensors
from packager.vectors.generated import ValuesRecipe
from packager.vectors.safetensors import TensorEntry

if TYPE_CHECKING:
    import numpy

GENERATED = "generated"
"""Key in `__metadata__`."""

Entry = TypeVar("Entry")


@dataclass(frozen=True, kw_only=True)
class GoldenSample:
    """Locations of the tensors of a sample, by their names in the model."""

    inputs: Mapping[str, TensorEntry]
    """with element and shape of the input; for an input in `recipes`, offset and size are those of its recipe"""
    outputs: Mapping[str, TensorEntry]
    recipes: Mapping[str, ValuesRecipe] = field(default_factory=dict)
    """recipes of inputs whose values are not in the file"""


@dataclass(frozen=True, kw_only=True)
class GoldenFile:
    """Samples and their expected outputs."""

    path: Path
    sha256: str
    size_bytes: int
    about: Mapping[str, str]
    """its `__metadata__`"""
    samples: tuple[GoldenSample, ...]


def read(path: Path) -> GoldenFile:
    """The content of a file that `write` has written."""
    about, places = safetensors.read(path)
    documents = parsing.json_of(about.get(GENERATED, "{}"))
    recipes = {name: generated.from_json(document) for name, document in documents.items()}
    numbers = sorted({int(key.split(".", 1)[0]) for key in places})
    return GoldenFile(
        path=path,
        sha256=sha256_of(path),
        size_bytes=path.stat().st_size,
        about={key: text for key, text in about.items() if key != GENERATED},
        samples=tuple(_sample(number, places, recipes) for number in numbers),
    )


def inputs_of(file: GoldenFile, sample: GoldenSample) -> "dict[str, numpy.ndarray]":
    """The values of all inputs of a sample, read or generated."""
    return {
        name: generated.values(sample.recipes[name])
        if name in sample.recipes
        else safetensors.values(file.path, sample.inputs[name])
        for name in sample.inputs
    }


def outputs_of(file: GoldenFile, sample: GoldenSample) -> "dict[str, numpy.ndarray]":
    return {name: safetensors.values(file.path, place) for name, place in sample.outputs.items()}


def _sample(number: int, places: Mapping[str, TensorEntry], recipes: Mapping[str, ValuesRecipe]) -> GoldenSample:
    stored = dict(_of_role(number, "input", places))
    known = dict(_of_role(number, "input", recipes))
    made = {
        name: replace(place, element=known[name].element, shape=known[name].shape)
        for name, place in _of_role(number, "recipe", places)
    }
    return GoldenSample(inputs={**stored, **made}, outputs=dict(_of_role(number, "output", places)), recipes=known)


def _of_role(number: int, role: str, entries: Mapping[str, Entry]) -> Iterator[tuple[str, Entry]]:
    """The entries of a sample by their names in the model, sorted."""
    start = f"{number}.{role}."
    for key in sorted(entries):
        if key.startswith(start):
            yield key.removeprefix(start), entries[key]
