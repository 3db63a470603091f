"""Maps templates of npm packages to their files: the shared ones in `typescript/`, and a target's own."""

import re
from collections.abc import Collection, Sequence
from functools import cache
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from packager.files.installed import templates_folder
from packager.render.templates import render
from packager.targets.typescript.view import ModelView, PipelineFileView

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

SHARED = PurePosixPath("typescript")
"""below templates/"""
TEMPLATE = ".j2"
MODEL = "model"
"""`models/model.*`: templates that are rendered once per model"""
PIPELINE = "pipeline"
"""`pipelines/pipeline.*`: templates that are rendered once per pipeline"""
OF_TRUST = frozenset({"trust", "trustBytes", "Signatures"})
"""stems of files that only packages with trusted keys have"""
OF_UPDATES = frozenset({"delivery", "updates"})
"""stems of templates that only packages with a channel have"""
UPDATING = "updating"
"""folder of files that only they have"""
TYPED = "typed"
"""folder of files that contracts need"""
PARTIAL = "_"
"""prefix of templates that others include"""

Template = tuple[PurePosixPath, PurePosixPath]
"""a folder below templates/, and the path of a template there, which is its path in the package"""


def templates(own: PurePosixPath, *, updates: bool = False) -> list[Template]:
    """Templates of a package that are rendered by themselves: the shared ones, and those in the folder `own`. With
    `updates` it has a channel."""
    return [
        (root, path)
        for root in (SHARED, own)
        for path in _found(root)
        if path.suffix == TEMPLATE and not path.name.startswith(PARTIAL) and (updates or not is_of_updates(path))
    ]


def is_of_one(path: PurePosixPath) -> bool:
    """Whether a template is rendered once per model or pipeline."""
    name = path.name.partition(".")[0]
    return name in (MODEL, PIPELINE) and path.parent.name == f"{name}s"


def texts_of_all(models: Sequence[ModelView], pipelines: Sequence[PipelineFileView]) -> dict[PurePosixPath, str]:
    """The modules of models and pipelines, by path in the package."""
    return {
        path.parent / path.name.replace(stem, view.file, 1).removesuffix(TEMPLATE): rendered(root, path, view)
        for stem, views in ((MODEL, models), (PIPELINE, pipelines))
        for root, path in templates(SHARED)
        if is_of_one(path) and path.parent.name == f"{stem}s"
        for view in views
    }


def is_of_trust(path: PurePosixPath) -> bool:
    return path.name.partition(".")[0] in OF_TRUST


def is_of_updates(path: PurePosixPath) -> bool:
    return UPDATING in path.parts or path.name.partition(".")[0] in OF_UPDATES


def rendered(root: PurePosixPath, path: PurePosixPath, view: "DataclassInstance") -> str:
    return render(str(root / path), view)


def copies(own: PurePosixPath, *, updates: bool = False) -> dict[PurePosixPath, Path]:
    """Files that every package contains unmodified. With `updates` it has a channel."""
    return {
        path: templates_folder() / root / path
        for root in (SHARED, own)
        for path in _found(root)
        if path.suffix != TEMPLATE and path.parent.name != TYPED and (updates or not is_of_updates(path))
    }


def typed_copies(modules: Collection[str]) -> dict[PurePosixPath, Path]:
    """Files that contracts need, unmodified: those of `modules`."""
    return {
        path: templates_folder() / SHARED / path
        for path in _found(SHARED)
        if path.parent.name == TYPED and path.name.partition(".")[0] in modules
    }


@cache
def _found(root: PurePosixPath) -> Sequence[PurePosixPath]:
    folder = templates_folder() / root
    files = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    compiled = {re.sub(r"^src/(.*)\.ts\.j2$", r"lib/\1.js.j2", path) for path in files}
    return tuple(map(PurePosixPath, sorted(files | compiled)))
