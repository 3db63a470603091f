"""Golden vectors: inputs and outputs that ship with a package, so that an app can verify its results."""

from packager.vectors.choose import MAX_SAMPLES, MEASURED, NO_VECTORS, Allowed, Computed, Golden, Vectors, write
from packager.vectors.generated import ValuesRecipe
from packager.vectors.reading import GoldenFile, GoldenSample, inputs_of, outputs_of, read

__all__ = [
    "MAX_SAMPLES",
    "MEASURED",
    "NO_VECTORS",
    "Allowed",
    "Computed",
    "Golden",
    "GoldenFile",
    "GoldenSample",
    "ValuesRecipe",
    "Vectors",
    "inputs_of",
    "outputs_of",
    "read",
    "write",
]
