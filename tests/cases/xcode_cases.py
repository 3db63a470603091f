"""An app's Xcode project as Xcode 15 writes it, and a release folder as a build for iOS leaves it."""

import json
from collections.abc import Sequence
from pathlib import Path

MANIFEST = """\
    platforms: [.iOS("16.0"), .macOS("14.0")],
    dependencies: [.package(path: "../onnxruntime-binary-1.29.0")],
    targets: [.product(name: "MobpackOnnxRuntime", package: "onnxruntime-binary-1.29.0")]
"""
"""what mobpack reads in the manifest of a package"""
APP = Path(__file__).with_name("xcode_app.pbxproj").read_text(encoding="utf-8")


def app_project(folder: Path, text: str = APP) -> Path:
    """`Reader.xcodeproj` with an application and its tests, below `folder`."""
    project = folder / "Reader.xcodeproj"
    project.mkdir(parents=True)
    (project / "project.pbxproj").write_text(text, encoding="utf-8")
    return project


def release(dist: Path, name: str = "page-orientation", targets: Sequence[str] = ("ios",)) -> Path:
    """A release with the Swift package `name`; gives the package's folder."""
    package = dist / "swift" / name
    for path in (
        "Package.swift",
        "README.md",
        "Sources/CPageOrientationKit/include/onnxruntime_c_api.h",
        "Sources/PageOrientationKit/OrientationModel.swift",
        "Sources/PageOrientationKit/Resources/Models/orientation/model.ort",
        "Tests/PageOrientationKitTests/SelfTests.swift",
    ):
        (package / path).parent.mkdir(parents=True, exist_ok=True)
        (package / path).write_text(path, encoding="utf-8")
    (package / "Package.swift").write_text(MANIFEST, encoding="utf-8")
    runtime = dist / "swift/onnxruntime-binary-1.29.0"
    for path in ("Package.swift", "Sources/MobpackOnnxRuntime/MobpackOnnxRuntime.c"):
        (runtime / path).parent.mkdir(parents=True, exist_ok=True)
        (runtime / path).write_text(path, encoding="utf-8")
    manifest = {"mobpack": "0", "artifacts": [{"target": target} for target in targets]}
    (dist / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    return package
