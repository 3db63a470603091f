"""The package of ONNX Runtime that Swift packages depend on, written beside one that no build has made."""

from pathlib import Path

from packager.render.templates import write_sources
from packager.targets import swift_runtime
from packager.targets.ios.view import IosView


def write_runtime(view: IosView, folder: Path) -> None:
    """Writes the package of ONNX Runtime that a package depends on, beside it."""
    write_sources(swift_runtime.sources(view.own), folder / view.dependency.identity)
