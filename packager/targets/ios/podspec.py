"""Podspec of a package, for apps that use CocoaPods with a local folder.

CocoaPods reads JSON as well as Ruby (guides.cocoapods.org/syntax/podspec.html); its public list of pods is closed after
2 December 2026.
"""

from pathlib import PurePosixPath

from packager.core.characters import to_json
from packager.targets.ios import package
from packager.targets.ios.view import IosView

HOMEPAGE = "https://onnxruntime.ai"
"""required: CocoaPods rejects a podspec without it"""
FRAMEWORKS = ("CoreML", "Foundation", "Network")
"""frameworks that ONNX Runtime links"""


def texts(view: IosView) -> dict[PurePosixPath, str]:
    """The podspec by path; none if ONNX Runtime is at an address of the user's own, which no pod can refer to."""
    is_known = view.own is None or view.own.folder is not None
    return {PurePosixPath(f"{view.runtime.module}.podspec.json"): podspec(view)} if is_known else {}


def podspec(view: IosView) -> str:
    """The podspec's text; all its paths are relative."""
    module, c_module = view.runtime.module, view.runtime.c_module
    headers = package.sources(c_module) / "include"
    document: dict[str, object] = {
        "name": module,
        "version": view.package.version,
        "summary": view.package.description or f"On-device models: {', '.join(each.name for each in view.models)}",
        "license": {"type": view.package.license or "unspecified"},
        "homepage": HOMEPAGE,
        "authors": view.package.name,
        "source": {"path": "."},
        "platforms": {"ios": view.min_ios, "osx": view.min_macos},
        "swift_versions": ["5.9", "6.0"],
        "static_framework": True,
        "source_files": [f"{package.sources(module)}/*.swift", f"{package.sources(c_module)}/**/*.{{h,c}}"],
        "private_header_files": [f"{headers}/*.h"],
        "resource_bundles": {module: [f"{package.sources(module) / package.RESOURCES}/*"]},
        "preserve_paths": [f"{headers}/module.modulemap"],
        "pod_target_xcconfig": {
            "SWIFT_INCLUDE_PATHS": f"$(PODS_TARGET_SRCROOT)/{headers}",
            "HEADER_SEARCH_PATHS": f"$(PODS_TARGET_SRCROOT)/{headers}",
        },
        "frameworks": list(FRAMEWORKS),
        "libraries": ["c++"],
        **_runtime(view),
    }
    return to_json(document, indent=2) + "\n"


def _runtime(view: IosView) -> dict[str, object]:
    """The dependency on ONNX Runtime: its pod, or the framework in the package."""
    if view.framework.path:
        return {"vendored_frameworks": [view.framework.path]}
    return {"dependencies": {"onnxruntime-c": [view.framework.version]}}
