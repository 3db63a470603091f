"""The npm package as a Swift package, for apps that React Native builds with SwiftPM."""

import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import PurePosixPath

from packager.targets import swift_runtime
from packager.targets.react_native.runtime import framework_path
from packager.targets.react_native.view import SwiftPackageView
from packager.targets.target import Built

IOS = PurePosixPath("ios")
PRIVACY = IOS / "PrivacyInfo.xcprivacy"
MANIFEST = PurePosixPath("Package.swift")


def swift_package(module: str, npm_name: str, ios: Built, models: Iterable[PurePosixPath]) -> SwiftPackageView:
    """The view of Package.swift; `models` are paths of the files that iOS opens."""
    return SwiftPackageView(
        product=product_name(npm_name) or module,
        resources=tuple(map(str, (PRIVACY, *models))),
        runtime=_runtime(ios),
    )


def runtime_texts(ios: Built) -> dict[PurePosixPath, str]:
    """The package of ONNX Runtime, by path in the npm package; empty if the latter contains the user's own."""
    if _runtime(ios) is None:
        return {}
    home, texts = IOS / swift_runtime.folder_name(None), swift_runtime.sources(None).texts
    return {home / path: text for path, text in texts.items() if path == MANIFEST or path.parts[0] == "Sources"}


def _runtime(ios: Built) -> swift_runtime.DependencyView | None:
    if framework_path(ios):
        return None
    beside = swift_runtime.dependency(None, named="", product="", oldest="")
    return replace(beside, place=str(IOS / beside.identity))


def product_name(npm_name: str) -> str:
    """`@example/react-native-vision` -> `ReactNativeVision`; empty for a name that begins with a digit.

    React Native 0.87 looks for this name alone (`toSwiftName` in its scripts); later versions for the one in
    package.json, which is the same.
    """
    words = re.split(r"[^a-zA-Z0-9]+", npm_name.rpartition("/")[2])
    name = "".join(word[:1].upper() + word[1:] for word in words)
    return name if name[:1].isalpha() else ""
