"""Maps the templates of a Node package to its files: JavaScript and types, without the TypeScript that makes them."""

from pathlib import Path, PurePosixPath

from packager.targets.node.view import NamesView
from packager.targets.typescript import texts as shared

ROOT = PurePosixPath("node")
"""below templates/"""
SOURCES = "src"
"""folder with TypeScript, which nobody needs who has its output"""
OF_REACT = "hook"
"""stem of files that import React"""


def texts(names: NamesView) -> dict[PurePosixPath, str]:
    """Rendered templates by path in the package."""
    printed = {
        path.with_name(path.name.removesuffix(shared.TEMPLATE)): shared.rendered(root, path, names)
        for root, path in shared.templates(ROOT)
        if not shared.is_of_one(path) and path.parts[0] != SOURCES
    }
    ones = shared.texts_of_all(names.models, names.pipelines)
    return {**printed, **{path: text for path, text in ones.items() if path.parts[0] != SOURCES}}


def copies(names: NamesView) -> dict[PurePosixPath, Path]:
    """Files that the package contains unmodified."""
    found = {**shared.copies(ROOT), **shared.typed_copies({each.module for each in names.exports})}
    return {path: file for path, file in found.items() if path.parts[0] != SOURCES and _ships(path)}


def _ships(path: PurePosixPath) -> bool:
    return path.name.partition(".")[0] != OF_REACT and not shared.is_of_trust(path)
