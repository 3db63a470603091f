"""The half of a pub package for iOS and macOS: a Swift package that Flutter adds to apps."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath

from packager.core import names
from packager.core.components import Component
from packager.files.processes import downloads
from packager.targets import privacy, swift_runtime
from packager.targets.flutter.view import AppleView
from packager.targets.target import Built
from packager.targets.xcframework.packaged import PackagedFramework
from packager.targets.xcframework.privacy import FILE_NAME

DARWIN = PurePosixPath("darwin")
"""folder of plug-ins with the same sources for iOS and macOS"""


def apple_view(pub_name: str, ios: Built) -> AppleView:
    pinned = downloads.pins()["ios"]
    beside = swift_runtime.dependency(_own(ios), named="", product="", oldest="")
    return AppleView(
        plugin=f"{names.pascal_case(pub_name)}Plugin",
        product=pub_name.replace("_", "-"),
        c_module=f"{pub_name}_c",
        swift_tools=pinned["swift-tools"],
        runtime=replace(beside, place=beside.identity),
        runtime_version=ios.runtime_version,
        min_ios=ios.oldest_system,
        min_macos=pinned["min-macos"],
    )


def texts(pub_name: str, ios: Built) -> dict[PurePosixPath, str]:
    """The package of ONNX Runtime, and the privacy manifest of both."""
    own = _own(ios)
    manifest = home(pub_name) / "Sources" / pub_name / FILE_NAME
    runtime = swift_runtime.sources(own).texts
    return {
        manifest: privacy.manifest(own.accesses if own else None),
        **{_runtime_home(pub_name, own) / path: text for path, text in runtime.items()},
    }


def files(pub_name: str, ios: Built) -> Mapping[PurePosixPath, Path]:
    """Files of the package of ONNX Runtime: those of an .xcframework of the user's own, and the licence."""
    own = _own(ios)
    return {_runtime_home(pub_name, own) / path: file for path, file in swift_runtime.sources(own).files.items()}


def links(pub_name: str, ios: Built) -> Mapping[PurePosixPath, str]:
    """Links of an .xcframework of the user's own."""
    own = _own(ios)
    return {_runtime_home(pub_name, own) / path: target for path, target in swift_runtime.sources(own).links.items()}


def parts(apple: AppleView, own: PackagedFramework | None) -> Iterator[Component]:
    """ONNX Runtime, for a bill of materials."""
    yield swift_runtime.part(apple.runtime, swift_runtime.framework_view(own), own, has_runtime=True)


def home(pub_name: str) -> PurePosixPath:
    """Folder of the Swift package."""
    return DARWIN / pub_name


def _runtime_home(pub_name: str, own: PackagedFramework | None) -> PurePosixPath:
    return home(pub_name) / swift_runtime.folder_name(own)


def _own(ios: Built) -> PackagedFramework | None:
    return ios.own if isinstance(ios.own, PackagedFramework) else None
