"""Views of golden vectors: their position in the file, and the tolerances of the outputs."""

from collections.abc import Mapping
from dataclasses import dataclass

from packager.vectors import MEASURED, Allowed, GoldenFile, Vectors
from packager.vectors.safetensors import TensorEntry


@dataclass(frozen=True, kw_only=True)
class ToleranceView:
    output: str
    rtol: float
    """the largest error may be atol + rtol * scale, 0 for values that must be equal"""
    atol: float
    scale: float
    mismatches: int

    @property
    def is_exact(self) -> bool:
        """Whether it says what holds for an output without one: values must be equal."""
        return (self.rtol, self.atol, self.scale, self.mismatches) == (0, 0, 1, 0)


@dataclass(frozen=True, kw_only=True)
class TestedFileView:
    """A model file that golden vectors apply to."""

    path: str
    """path in the package"""
    tolerances: tuple[ToleranceView, ...]


@dataclass(frozen=True, kw_only=True)
class GoldenTensorView:
    name: str
    element: str
    """member of ElementType"""
    offset: int
    size_bytes: int
    """size of the values, by which code distinguishes them from a recipe"""
    shape: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class GoldenSampleView:
    inputs: tuple[GoldenTensorView, ...]
    outputs: tuple[GoldenTensorView, ...]


def tested_file(path: str, vectors: Vectors) -> TestedFileView:
    """Tolerances of the file at `path` of a package."""
    return TestedFileView(path=path, tolerances=tolerances(vectors))


def tolerances(vectors: Vectors) -> tuple[ToleranceView, ...]:
    """Tolerance of every output that golden vectors have, by name."""
    elements = {name: place.element for sample in vectors.golden.samples for name, place in sample.outputs.items()}
    return tuple(
        _tolerance(name, vectors.allowed[name], is_measured=elements[name] in MEASURED) for name in sorted(elements)
    )


def _tolerance(output: str, allowed: Allowed, *, is_measured: bool) -> ToleranceView:
    return ToleranceView(
        output=output,
        rtol=float(allowed.rtol) if is_measured else 0.0,
        atol=float(allowed.atol) if is_measured else 0.0,
        scale=float(allowed.scale) if is_measured else 1.0,
        mismatches=allowed.mismatches,
    )


def sample_views(golden: GoldenFile) -> tuple[GoldenSampleView, ...]:
    return tuple(
        GoldenSampleView(inputs=_tensors(sample.inputs), outputs=_tensors(sample.outputs)) for sample in golden.samples
    )


def samples_in_words(files: list[tuple[GoldenSampleView, ...]]) -> str:
    """Number of samples as text: files with other numerics may have fewer."""
    most = max((len(samples) for samples in files), default=0)
    return "one sample" if most == 1 else f"{most} samples"


def _tensors(places: Mapping[str, TensorEntry]) -> tuple[GoldenTensorView, ...]:
    return tuple(
        GoldenTensorView(
            name=name,
            element=place.element.name,
            offset=place.offset,
            size_bytes=place.size_bytes,
            shape=place.shape,
        )
        for name, place in sorted(places.items())
    )
