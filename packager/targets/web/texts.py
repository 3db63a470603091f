"""Maps the templates of a web package to its files: JavaScript and types, without the TypeScript that makes them."""

from pathlib import Path, PurePosixPath

from packager.targets.typescript import texts as shared
from packager.targets.web.view import WebView

ROOT = PurePosixPath("web")
"""below templates/"""
SOURCES = "src"
"""folder with TypeScript, which nobody needs who has its output"""
OF_PICTURES = frozenset({"image", "pictures"})
"""stems of files that packages without pictures lack"""
OF_SOUNDS = frozenset({"recorder", "recordings"})
"""stems of files that packages without recordings lack"""
ENTRY_OF_SOUNDS = PurePosixPath("lib/sound")
"""the same, of the entry: a file of the shared runtime has that name, too"""


def texts(view: WebView) -> dict[PurePosixPath, str]:
    """Rendered templates by path in the package."""
    printed = {
        path.with_name(path.name.removesuffix(shared.TEMPLATE)): shared.rendered(root, path, view.names)
        for root, path in shared.templates(ROOT, updates=view.names.delivery is not None)
        if not shared.is_of_one(path) and _ships(path, view)
    }
    ones = shared.texts_of_all(view.names.models, view.names.pipelines)
    return {**printed, **{path: text for path, text in ones.items() if path.parts[0] != SOURCES}}


def copies(view: WebView) -> dict[PurePosixPath, Path]:
    """Files that the package contains unmodified."""
    found = {
        **shared.copies(ROOT, updates=view.names.delivery is not None),
        **shared.typed_copies({each.module for each in view.names.exports}),
    }
    return {path: file for path, file in found.items() if _ships(path, view)}


def _ships(path: PurePosixPath, view: WebView) -> bool:
    stem = path.name.partition(".")[0]
    is_of_sounds = stem in OF_SOUNDS or path.parent / stem == ENTRY_OF_SOUNDS
    has_use = (view.names.has_pictures or stem not in OF_PICTURES) and (view.names.has_sounds or not is_of_sounds)
    has_use = has_use and (view.names.trust is not None or not shared.is_of_trust(path))
    return path.parts[0] != SOURCES and has_use
