"""Views of golden vectors for Kotlin: their files, and the model files that must reproduce them."""

from pathlib import PurePosixPath

from packager.core.values import Package
from packager.targets.ends import ends_sha256
from packager.targets.golden import sample_views, tested_file
from packager.targets.kotlin.files import Files
from packager.targets.kotlin.view import Asset, GoldenView
from packager.vectors import Golden, GoldenFile, Vectors


def golden_views(model: str, files: Files, package: Package, golden: Golden) -> tuple[GoldenView, ...]:
    """The golden files of a model; empty if a shipped file has none, so that the self-test is complete or absent."""
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
            files=tuple(tested_file(asset.path, vectors) for asset, vectors in each),
            samples=sample_views(each[0][1].golden),
        )
        for number, each in enumerate(users.values(), 1)
    )


def _asset(golden: GoldenFile, package: Package, model: str, number: int) -> Asset:
    name = f"{model}.golden.safetensors" if number == 1 else f"{model}.golden-{number}.safetensors"
    path = str(PurePosixPath("mobpack", package.name, name))
    return Asset(
        path=path,
        file=golden.path,
        sha256=golden.sha256,
        ends_sha256=ends_sha256(golden.path),
        size_bytes=golden.size_bytes,
    )
