"""Where golden vectors lie in their file, and how far outputs may be off: what generated code is told of them."""

from collections.abc import Mapping
from dataclasses import dataclass

from packager.vectors import MEASURED, Allowed, GoldenFile, Vectors
from packager.vectors.safetensors import TensorEntry


@dataclass(frozen=True, kw_only=True)
class ToleranceView:
    output: str
    rtol: str
    """as Kotlin and Swift write a number; the largest error may be atol + rtol * scale, 0 for values that must be
    equal"""
    atol: str
    scale: str
    mismatches: int


@dataclass(frozen=True, kw_only=True)
class TestedFileView:
    """A file that golden vectors are for."""

    path: str
    """in the package"""
    tolerances: tuple[ToleranceView, ...]


@dataclass(frozen=True, kw_only=True)
class GoldenTensorView:
    name: str
    element: str
    """name of the member of ElementType"""
    offset: int
    size_bytes: int
    """code sees by it whether values lie there or a recipe for them"""
    shape: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class GoldenSampleView:
    inputs: tuple[GoldenTensorView, ...]
    outputs: tuple[GoldenTensorView, ...]


def tested_file(path: str, vectors: Vectors) -> TestedFileView:
    """What the file at `path` of a package may be off."""
    elements = {name: place.element for sample in vectors.golden.samples for name, place in sample.outputs.items()}
    return TestedFileView(
        path=path,
        tolerances=tuple(
            _tolerance(name, vectors.allowed[name], is_measured=elements[name] in MEASURED) for name in sorted(elements)
        ),
    )


def _tolerance(output: str, allowed: Allowed, *, is_measured: bool) -> ToleranceView:
    return ToleranceView(
        output=output,
        rtol=repr(float(allowed.rtol)) if is_measured else "0.0",
        atol=repr(float(allowed.atol)) if is_measured else "0.0",
        scale=repr(float(allowed.scale)) if is_measured else "1.0",
        mismatches=allowed.mismatches,
    )


def sample_views(golden: GoldenFile) -> tuple[GoldenSampleView, ...]:
    return tuple(
        GoldenSampleView(inputs=_tensors(sample.inputs), outputs=_tensors(sample.outputs)) for sample in golden.samples
    )


def samples_in_words(files: list[tuple[GoldenSampleView, ...]]) -> str:
    """How many samples there are: files that compute with other numbers may have fewer."""
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
