"""Pages: the files of the web package that a package for Flutter contains."""

from pathlib import PurePosixPath

from packager.core import components
from packager.core.components import Component
from packager.core.values import Sources
from packager.engines.environments import web
from packager.files.processes import downloads
from packager.targets.flutter.view import PageView
from packager.targets.target import Page

FOLDER = PurePosixPath("web")
"""in the package"""
SERVED = ("lib", "models", "onnxruntime")
"""folders of the web package that pages read"""
NOT_SERVED = (".d.ts", "lib/api.js", "lib/image.js", "lib/index.js", "lib/react.js", "lib/sound.js")
"""ends of paths that only programs in TypeScript and JavaScript read"""
NOTHING = Sources(texts={}, files={})


def files(page: Page | None) -> Sources:
    """The files that pages read, below `web/`."""
    if page is None:
        return NOTHING
    return Sources(
        texts={FOLDER / path: text for path, text in page.sources.texts.items() if _is_served(path)},
        files={FOLDER / path: file for path, file in page.sources.files.items() if _is_served(path)},
    )


def page_view(page: Page | None, model: str) -> PageView | None:
    """The module of a model; None without pages."""
    if page is None:
        return None
    module, name = page.modules[model]
    return PageView(module=str(FOLDER / module), name=name)


def parts(runtime_version: str) -> tuple[Component, ...]:
    """ONNX Runtime for pages; nothing for an empty version."""
    if not runtime_version:
        return ()
    pins = downloads.pins()
    return (
        components.npm(
            web.PACKAGE,
            runtime_version,
            pins["licenses"]["onnxruntime"],
            about=f"in the package: {FOLDER / 'onnxruntime'}, unchanged",
            sha256=pins["files"][web.PACKAGE]["sha256"],
        ),
    )


def _is_served(path: PurePosixPath) -> bool:
    return path.parts[0] in SERVED and not str(path).endswith(NOT_SERVED)
