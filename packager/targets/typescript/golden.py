"""Views of golden vectors for TypeScript: their files, and the model files that must reproduce them."""

from collections.abc import Mapping

from packager.targets.golden import sample_views, tested_file
from packager.targets.typescript.files import Layout, add_golden
from packager.targets.typescript.view import FileView, GoldenView
from packager.vectors import Golden, Vectors

Opened = Mapping[str, tuple[FileView, ...]]
"""platform -> the files of a model"""


def golden_views(model: str, opened: Opened, golden: Golden, layout: Layout) -> tuple[GoldenView, ...]:
    """The golden files of a model; empty if a shipped file has none, so that the self-test is complete or absent."""
    shipped = {view.sha256: view for views in opened.values() for view in views}
    if any((model, sha256) not in golden for sha256 in shipped):
        return ()
    users: dict[str, list[tuple[FileView, Vectors]]] = {}
    for sha256, view in shipped.items():
        vectors = golden[model, sha256]
        users.setdefault(vectors.golden.sha256, []).append((view, vectors))
    return tuple(
        GoldenView(
            file=add_golden(each[0][1].golden, model, _platforms(each, opened), layout),
            files=tuple(tested_file(view.path, vectors) for view, vectors in each),
            samples=sample_views(each[0][1].golden),
        )
        for each in users.values()
    )


def _platforms(files: list[tuple[FileView, Vectors]], opened: Opened) -> list[str]:
    """Platforms that open one of `files`."""
    wanted = {view.sha256 for view, _ in files}
    return [name for name, views in opened.items() if wanted & {view.sha256 for view in views}]
