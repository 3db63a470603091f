"""Golden trees for iOS as Swift packages, to be compiled."""

import shutil
from pathlib import Path

from packager.files.installed import templates_folder
from tests.golden.cases import IOS_CASES


def golden_package(name: str, folder: Path) -> Path:
    """A golden case for iOS as a package, with ONNX Runtime's headers, and an empty file for its models."""
    package = folder / name
    for path, text in IOS_CASES[name].texts().items():
        (package / path).parent.mkdir(parents=True, exist_ok=True)
        (package / path).write_text(text, encoding="utf-8", newline="\n")
    [c_sources] = package.glob("Sources/C*/shim.c")
    shutil.copytree(templates_folder() / "ios" / "onnxruntime", c_sources.parent, dirs_exist_ok=True)
    models_folder = package / "Sources" / c_sources.parent.name.removeprefix("C") / "Resources" / "Models"
    models_folder.mkdir()
    (models_folder / "model.ort").touch()
    return package
