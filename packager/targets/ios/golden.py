"""Views of golden vectors for Swift: their files, and the model files that must reproduce them."""

from packager.targets.ends import ends_sha256
from packager.targets.golden import sample_views, tested_file
from packager.targets.ios.files import Files
from packager.targets.ios.view import GoldenView, Resource
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
            files=tuple(tested_file(resource.path, vectors) for resource, vectors in each),
            samples=sample_views(each[0][1].golden),
        )
        for number, each in enumerate(users.values(), 1)
    )


def _resource(golden: GoldenFile, folder: str, number: int) -> Resource:
    name = "golden.safetensors" if number == 1 else f"golden-{number}.safetensors"
    return Resource(
        path=f"{folder}/{name}",
        file=golden.path,
        sha256=golden.sha256,
        ends_sha256=ends_sha256(golden.path),
        size_bytes=golden.size_bytes,
    )
