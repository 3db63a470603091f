"""Golden vectors: a few inputs and outputs that travel with a package, so that an app can prove what it computes."""

from packager.vectors.choose import (
    MAX_SAMPLES,
    MEASURED,
    NO_VECTORS,
    Allowed,
    Computed,
    Golden,
    GoldenFile,
    GoldenSample,
    Vectors,
    read,
    write,
)

__all__ = [
    "MAX_SAMPLES",
    "MEASURED",
    "NO_VECTORS",
    "Allowed",
    "Computed",
    "Golden",
    "GoldenFile",
    "GoldenSample",
    "Vectors",
    "read",
    "write",
]
