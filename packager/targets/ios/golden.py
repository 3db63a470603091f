"""Views of golden vectors for Swift: their files, and the model files that must reproduce them."""

from collections.abc import Iterator, Sequence

from packager.render.templates import swift_integer, swift_string
from packager.targets.ends import ends_sha256
from packager.targets.golden import GoldenTensorView, ToleranceView, sample_views, tolerances
from packager.targets.ios.files import Files
from packager.targets.ios.lines import listed
from packager.targets.ios.view import GoldenView, Resource, SampleView, TestedView
from packager.vectors import Golden, GoldenFile, Vectors


def golden_views(model: str, files: Files, golden: Golden) -> tuple[GoldenView, ...]:
    """The golden files of a model; empty if a shipped file has none, so that the self-test is complete or absent."""
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
            tested=tuple(_tested(each)),
            samples=tuple(
                SampleView(
                    places=(
                        *listed("inputs: ", map(_place, sample.inputs), ",", indent=20),
                        *listed("outputs: ", map(_place, sample.outputs), "", indent=20),
                    )
                )
                for sample in sample_views(each[0][1].golden)
            ),
        )
        for number, each in enumerate(users.values(), 1)
    )


def _tested(users: Sequence[tuple[Resource, Vectors]]) -> Iterator[TestedView]:
    found: dict[tuple[ToleranceView, ...], list[str]] = {}
    for resource, vectors in users:
        measured = tuple(each for each in tolerances(vectors) if not each.is_exact)
        found.setdefault(measured, []).append(resource.path)
    for measured, paths in found.items():
        yield TestedView(paths=listed("paths: ", map(swift_string, paths), ",", indent=20), tolerances=measured)


def _place(tensor: GoldenTensorView) -> str:
    numbers = f"{swift_integer(tensor.offset)}, {swift_integer(tensor.size_bytes)}"
    return f"GoldenTensor({swift_string(tensor.name)}, {numbers}, [{', '.join(map(str, tensor.shape))}])"


def _resource(golden: GoldenFile, folder: str, number: int) -> Resource:
    name = "golden.safetensors" if number == 1 else f"golden-{number}.safetensors"
    return Resource(
        path=f"{folder}/{name}",
        file=golden.path,
        sha256=golden.sha256,
        ends_sha256=ends_sha256(golden.path),
        size_bytes=golden.size_bytes,
    )
