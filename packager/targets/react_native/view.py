"""View of the package's own templates: all decisions are made here; templates only lay out the values."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from packager.core.values import Package
from packager.providers import Provider
from packager.targets.delivery import DeliveryView
from packager.targets.signed_list import TrustView
from packager.targets.swift_runtime import DependencyView
from packager.targets.typescript.typed_view import ExportView
from packager.targets.typescript.view import License, ModelView, PipelineFileView, PlacedFile, PlatformProvidersView


@dataclass(frozen=True, kw_only=True)
class SwiftPackageView:
    """The package's manifest for SwiftPM."""

    product: str
    """name under which React Native looks for the library"""
    resources: tuple[str, ...]
    """paths of the files in the library's bundle"""
    runtime: DependencyView | None
    """the package of ONNX Runtime; None if this one contains its own"""


@dataclass(frozen=True, kw_only=True)
class NamesView:
    """Names and dependencies of the package, for all other files."""

    npm_name: str
    version: str
    description: str
    license: str
    """licence for package.json"""
    trust: TrustView | None
    """what files are verified with; None for a package that opens them unsigned"""
    delivery: DeliveryView | None
    """the channel of the models; None for a package without one"""
    runtimes: Mapping[str, str]
    """ONNX Runtime of each platform as documents of channels name it"""
    npm_registry: str
    """where `npm publish` sends the package; empty for npm's own registry"""
    module: str
    """`PageOrientation`"""
    cpp_namespace: str
    """namespace below `mobpack`: two packages may be linked into one app"""
    cmake_target: str
    kotlin_package: str
    asset_folder: str
    """folder of the models below Android's assets: `mobpack/PageOrientation`"""
    bundle: str
    """bundle of the models on iOS: `PageOrientationModels`"""
    spec: str
    """name of codegen's output: `PageOrientationSpec`"""
    library: str
    """ONNX Runtime's library on Android: `libonnxruntime.so`"""
    android_runtime: str
    """Maven coordinates of ONNX Runtime; empty if its libraries are in the package"""
    android_module: str
    """the same without a version"""
    android_version: str
    android_oldest: str
    """oldest version that an app may bring instead; empty if only `android_version` will do"""
    ios_version: str
    ios_oldest: str
    ios_framework: str
    """ONNX Runtime's .xcframework in the package; empty for the pod onnxruntime-c"""
    min_ios: str
    swift: SwiftPackageView
    min_sdk: int
    compile_sdk: int
    react_native: str
    """oldest supported version of React Native"""
    has_telemetry: bool
    """whether the manifest of Android's ONNX Runtime starts telemetry"""
    providers_in_manifest: tuple[str, ...]
    """Android's providers with elements of their own in the manifest"""
    providers_of_device: tuple[str, ...]
    """Android's providers with settings of the process that are made before the first session"""
    providers_in_readme: tuple[str, ...]
    """Android's providers that need something of the app"""
    has_self_test: bool
    all_providers: tuple[type[Provider], ...]
    platforms: tuple[PlatformProvidersView, ...]
    models: tuple[ModelView, ...]
    pipelines: tuple[PipelineFileView, ...]
    has_hooks: bool
    """whether models have hooks for React in their own modules"""
    exports: tuple[ExportView, ...]
    """files for contracts; empty without any"""
    has_pictures: bool
    """whether a model takes pictures"""
    is_tuned: bool
    """whether models follow settings by chip"""
    frameworks: tuple[str, ...]
    """Apple's frameworks that the pod is linked with"""


@dataclass(frozen=True, kw_only=True)
class ReactNativeView:
    """View of a whole package."""

    package: Package
    names: NamesView
    files: tuple[PlacedFile, ...]
    licenses: tuple[License, ...]
    libraries: Mapping[PurePosixPath, Path]
    """bundled ONNX Runtime, by path in the package"""
    own_texts: Mapping[PurePosixPath, str]
    """its files that were modified, and those that say where it is"""
