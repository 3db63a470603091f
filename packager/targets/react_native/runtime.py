"""The ONNX Runtime of an npm package: the published one of each platform, or that of the user's own packages."""

import json
import plistlib
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

from packager.core import components
from packager.core.components import Component
from packager.core.errors import ConfigError
from packager.core.values import Package
from packager.files.processes import downloads
from packager.targets import included_runtime
from packager.targets.react_native.view import NamesView
from packager.targets.target import Built, OwnRuntime
from packager.targets.typescript.providers import providers_view
from packager.targets.typescript.view import PlatformProvidersView
from packager.targets.xcframework.layout import PLIST, Slice, read_plist, slices
from packager.targets.xcframework.packaged import PackagedFramework

TITLES = {"android": "Android", "ios": "iOS"}
FRAMEWORKS = PurePosixPath("ios/Frameworks")
POD = "onnxruntime-c"
POD_PATH = PurePosixPath(f"ios/{POD}.podspec.json")


def refuse_address(runtimes: Mapping[str, OwnRuntime]) -> None:
    """Raises ConfigError for an ONNX Runtime at an address: CocoaPods takes no archive from there."""
    own = runtimes.get("ios")
    if isinstance(own, PackagedFramework) and own.folder is None:
        raise ConfigError(
            f"target.react_native: [runtime] ios is an address ({own.url}), but an npm package contains the runtime "
            "itself",
            hint='download the .zip and use the file: ios = "onnxruntime.xcframework.zip"',
        )


def frameworks(ios: Built, package: Package, *, has_pictures: bool) -> tuple[str, ...]:
    """Apple's frameworks that the pod is linked with: for ONNX Runtime inside it, pictures, signatures and updates."""
    return (
        *(("CoreML", "Foundation") if framework_path(ios) else ()),
        *(("CoreGraphics", "ImageIO") if has_pictures else ()),
        *(("Network",) if package.delivery else ()),
        *(("Security",) if package.trust or package.delivery else ()),
        *(("UIKit",) if package.delivery else ()),
    )


def pod(ios: Built) -> dict[PurePosixPath, str]:
    """The podspec of the published ONNX Runtime at its address, by path; empty if the package contains its own.

    For a Podfile: CocoaPods' own list of pods is closed for new versions from December 2026 on.
    """
    if ios.own:
        return {}
    pinned = downloads.pins()["ios"]
    podspec = {
        "name": POD,
        "version": pinned["version"],
        "summary": "ONNX Runtime for C and C++",
        "homepage": "https://onnxruntime.ai",
        "license": {"type": "MIT", "file": "LICENSE"},
        "authors": "Microsoft",
        "source": {"http": pinned["archive"], "sha256": pinned["checksum"]},
        "platforms": {"ios": pinned["min-ios"], "osx": pinned["min-macos"]},
        "static_framework": True,
        "vendored_frameworks": "onnxruntime.xcframework",
        "frameworks": ["Foundation"],
        "weak_frameworks": ["CoreML"],
        "libraries": ["c++"],
    }
    return {POD_PATH: json.dumps(podspec, indent=2) + "\n"}


def parts(names: NamesView, terms: str) -> Iterator[Component]:
    """ONNX Runtime of each platform, for a bill of materials."""
    if names.android_runtime:
        allowed = f"[{names.android_oldest},2)" if names.android_oldest else ""
        yield components.maven(names.android_runtime, terms, kind="aar", allowed=allowed)
    else:
        yield components.own_runtime(names.android_version, terms, platform="android")
    if names.ios_framework:
        yield components.own_runtime(names.ios_version, terms, platform="ios")
        return
    pinned = downloads.pins()["ios"]
    yield Component(
        name=POD,
        version=pinned["version"],
        purl=components.purl("cocoapods", POD, pinned["version"]),
        license=terms,
        sha256=pinned["checksum"],
        address=pinned["archive"],
        allowed=f"[{names.ios_oldest},2)" if names.ios_oldest else "",
    )


def framework_path(ios: Built) -> str:
    """Path of the user's .xcframework in the package; empty if it has none."""
    own = ios.own
    is_inside = isinstance(own, PackagedFramework) and own.folder is not None
    return str(FRAMEWORKS / f"{own.name}.xcframework") if own and is_inside else ""


def framework_files(ios: Built) -> dict[PurePosixPath, Path]:
    """Files of the .xcframework that apps for phones and simulators need.

    Frameworks for macOS are omitted: they contain links, which npm packages cannot.
    """
    own = ios.own
    if not isinstance(own, PackagedFramework) or own.folder is None:
        return {}
    home, unneeded = PurePosixPath(framework_path(ios)), _unneeded(own.folder)
    return {home / path.relative_to(own.folder).as_posix(): path for path in _files(own.folder, unneeded)}


def framework_plist(ios: Built) -> dict[PurePosixPath, str]:
    """The Info.plist of a reduced .xcframework, by path; empty for a complete one."""
    own = ios.own
    if not isinstance(own, PackagedFramework) or own.folder is None or not _unneeded(own.folder):
        return {}
    left_out = {each.identifier for each in _unneeded(own.folder)}
    document = read_plist(own.folder / PLIST)
    libraries = [each for each in document["AvailableLibraries"] if each["LibraryIdentifier"] not in left_out]
    text = plistlib.dumps({**document, "AvailableLibraries": libraries}).decode()
    return {PurePosixPath(framework_path(ios)) / PLIST: text}


def _unneeded(folder: Path) -> tuple[Slice, ...]:
    return tuple(each for each in slices(folder) if each.platform != "ios" or each.is_desktop)


def _files(folder: Path, unneeded: tuple[Slice, ...]) -> Iterator[Path]:
    """Files to keep. A reduced framework invalidates its signature, so the signature and the list of parts are
    dropped."""
    left_out = {each.identifier for each in unneeded} | ({PLIST, "_CodeSignature"} if unneeded else set())
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.relative_to(folder).parts[0] not in left_out:
            yield path


def platform_view(built: Built) -> PlatformProvidersView:
    return PlatformProvidersView(
        name=built.target,
        title=TITLES[built.target],
        runtime_version=built.runtime_version,
        oldest_runtime=included_runtime.oldest(built),
        providers=providers_view(built.providers),
    )
