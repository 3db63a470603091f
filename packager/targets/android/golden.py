"""Shows Kotlin where golden vectors lie, and which of a model's files must compute them."""

from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

from packager.targets.android.files import Files
from packager.targets.android.view import (
    Asset,
    GoldenSampleView,
    GoldenTensorView,
    GoldenView,
    TestedFileView,
    ToleranceView,
)
from packager.values import Package
from packager.vectors import MEASURED, Golden, GoldenFile, Vectors
from packager.vectors.safetensors import Place


def golden_views(model: str, files: Files, package: Package, golden: Golden) -> tuple[GoldenView, ...]:
    """The golden files of a model; empty when one of the files that ship has none, so that no app relies on them."""
    shipped = {view.asset.sha256: view.asset for view in files.views}
    if any((model, sha256) not in golden for sha256 in shipped):
        return ()
    users: dict[str, list[tuple[Asset, Vectors]]] = {}
    for sha256, asset in shipped.items():
        vectors = golden[model, sha256]
        users.setdefault(vectors.golden.sha256, []).append((asset, vectors))
    return tuple(
        GoldenView(
            asset=_asset(each[0][1].golden, package, model, number),
            files=tuple(_tested(asset, vectors) for asset, vectors in each),
            samples=tuple(_samples(each[0][1].golden)),
        )
        for number, each in enumerate(users.values(), 1)
    )


def _asset(golden: GoldenFile, package: Package, model: str, number: int) -> Asset:
    name = f"{model}.golden.safetensors" if number == 1 else f"{model}.golden-{number}.safetensors"
    path = str(PurePosixPath("mobpack", package.name, name))
    return Asset(path=path, file=golden.path, sha256=golden.sha256, size_bytes=golden.size_bytes)


def _tested(asset: Asset, vectors: Vectors) -> TestedFileView:
    elements = {name: place.element for sample in vectors.golden.samples for name, place in sample.outputs.items()}
    return TestedFileView(
        path=asset.path,
        tolerances=tuple(
            ToleranceView(
                output=name,
                share=repr(float(vectors.allowed[name].share)) if elements[name] in MEASURED else "0.0",
                mismatches=vectors.allowed[name].mismatches,
            )
            for name in sorted(elements)
        ),
    )


def _samples(golden: GoldenFile) -> Iterator[GoldenSampleView]:
    for sample in golden.samples:
        yield GoldenSampleView(inputs=_tensors(sample.inputs), outputs=_tensors(sample.outputs))


def _tensors(places: Mapping[str, Place]) -> tuple[GoldenTensorView, ...]:
    """Kotlin sees by the size whether values lie there or a recipe for them."""
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
