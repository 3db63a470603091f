"""Facts that a package knows of a model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class TensorSpec:
    """A tensor of a model."""

    name: str
    """its name in the model"""
    dtype: str
    """NumPy's name of its type"""
    shape: tuple[int | None, ...]
    """None for a size that is open"""


@dataclass(frozen=True)
class Tolerance:
    """Largest difference of an output from the build machine's: `atol + rtol * scale`; 0 for values that must be
    equal."""

    rtol: float
    atol: float
    scale: float
    mismatches: int
    """values without a distance that may differ"""


@dataclass(frozen=True)
class Descriptor:
    """A model's files, tensors and samples."""

    package: str
    version: str
    name: str
    file: str
    """name of the file that ONNX Runtime opens, in the model's own folder"""
    sha256: Mapping[str, str]
    """by file, weights and samples included"""
    settings: Mapping[str, str]
    """configuration entries of the session"""
    runtime_version: str
    """oldest ONNX Runtime that opens the file"""
    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]
    golden: str
    """name of the file with samples; empty without any"""
    tolerances: Mapping[str, Tolerance]
    """by output of the samples"""
