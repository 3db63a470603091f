"""Shows Swift where golden vectors lie, and which of a model's files must compute them."""

from collections.abc import Iterator, Mapping

from packager.targets.ios.files import Files
from packager.targets.ios.view import (
    GoldenSampleView,
    GoldenTensorView,
    GoldenView,
    Resource,
    TestedFileView,
    ToleranceView,
)
from packager.vectors import MEASURED, Golden, GoldenFile, Vectors
from packager.vectors.safetensors import Place


def golden_views(model: str, files: Files, golden: Golden) -> tuple[GoldenView, ...]:
    """The golden files of a model; empty when one of the files that ship has none, so that no app relies on them."""
    shipped = {view.resource.sha256: view.resource for view in files.views}
    if any((model, sha256) not in golden for sha256 in shipped):
        return ()
    users: dict[str, list[tuple[Resource, Vectors]]] = {}
    for sha256, resource in shipped.items():
        vectors = golden[model, sha256]
        users.setdefault(vectors.golden.sha256, []).append((resource, vectors))
    return tuple(
        GoldenView(
            resource=_resource(each[0][1].golden, files.folder, number),
            files=tuple(_tested(resource, vectors) for resource, vectors in each),
            samples=tuple(_samples(each[0][1].golden)),
        )
        for number, each in enumerate(users.values(), 1)
    )


def _resource(golden: GoldenFile, folder: str, number: int) -> Resource:
    name = "golden.safetensors" if number == 1 else f"golden-{number}.safetensors"
    return Resource(path=f"{folder}/{name}", file=golden.path, sha256=golden.sha256, size_bytes=golden.size_bytes)


def _tested(resource: Resource, vectors: Vectors) -> TestedFileView:
    elements = {name: place.element for sample in vectors.golden.samples for name, place in sample.outputs.items()}
    return TestedFileView(
        path=resource.path,
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
    """Swift sees by the size whether values lie there or a recipe for them."""
    return tuple(
        GoldenTensorView(name=name, offset=place.offset, size_bytes=place.size_bytes, shape=place.shape)
        for name, place in sorted(places.items())
    )
