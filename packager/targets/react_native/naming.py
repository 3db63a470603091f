"""Names in a package for React Native: its own, and those of its code in C++, Kotlin, CMake and CocoaPods."""

import re

from packager.core import names
from packager.core.apple import SYSTEM_MODULES
from packager.core.errors import SettingError
from packager.targets.typescript.naming import TAKEN_NAMES

PREFIX = "react-native-"
MODULE = re.compile(r"[A-Z][A-Za-z0-9]*")

# Pods of React Native, of Expo, of VisionCamera and of ONNX Runtime: pod names in an app are unique. BaseReact,
# MainReact and FBReactNative are for BaseReactPackage, MainReactPackage and FBReactNativeSpec, which React Native has.
TAKEN_PODS = frozenset(
    """
    BaseReact boost Codegen DoubleConversion EXConstants Expo ExpoAsset ExpoCamera
    ExpoCameraBarcodeScanning ExpoDomWebView ExpoFileSystem ExpoFont
    ExpoHaptics ExpoImagePicker ExpoKeepAwake ExpoLogBox ExpoModulesCore ExpoModulesJSI ExpoModulesWorklets
    ExpoModulesWorkletsAdapter FBLazyVector FBReactNative fmt Folly glog hermes Jsi JsiNative MainReact NitroImage
    NitroModules Objc Onnxruntime RCT RCTDeprecation RCTRequired RCTSwiftUI RCTSwiftUIWrapper RCTTypeSafety React
    ReactAppDependencyProvider ReactCodegen ReactCommon ReactNative ReactNativeDependencies SocketRocket
    VisionCamera Yoga
    """.split()
)
UNUSABLE_MODULES = frozenset(name.lower() for name in (*SYSTEM_MODULES, *TAKEN_PODS))
"""in lower case: macOS file systems ignore case"""


def npm_name(package: str, given: str = "") -> str:
    """npm name: `page-orientation` -> `react-native-page-orientation`, or the name `given`.

    `web` -> `react-native-web-models`, because another package has the plain name.
    """
    made = f"{PREFIX}{package}"
    return given or (f"{made}-models" if made in TAKEN_NAMES else made)


def module_name(package: str, given: str = "") -> str:
    """Name of the pod, the C++ class and the Kotlin classes: `page-orientation` -> `PageOrientation`.

    `vision` -> `VisionModels`, because Vision is Apple's. Raises SettingError for an unusable name.
    """
    if not given:
        made = names.pascal_case(package)
        while made.lower() in UNUSABLE_MODULES:
            made += "Models"
        return made
    if not MODULE.fullmatch(given):
        raise SettingError(f"module '{given}' is not a valid class name", hint="use capitalized words: PageOrientation")
    if given.lower() in UNUSABLE_MODULES:
        raise SettingError(f"module '{given}' clashes with a framework or pod of apps", hint=f"try {given}Models")
    return given


def cpp_namespace(module: str) -> str:
    """`PageOrientation` -> `pageorientationcxx`: no keyword (`new`), macro (`linux`) or function (`close`) has this
    suffix."""
    return f"{module.lower()}cxx"


def cmake_target(module: str) -> str:
    """`PageOrientation` -> `page_orientation_mobpack`"""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", module).lower() + "_mobpack"
