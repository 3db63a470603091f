"""What the templates of an npm package print: every decision is taken here, the templates only lay it out."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from packager.core.values import Package
from packager.targets.golden import GoldenSampleView, TestedFileView
from packager.targets.react_native.typed_view import ExportView, TypedView


@dataclass(frozen=True, kw_only=True)
class OptionView:
    key: str
    value: str


@dataclass(frozen=True, kw_only=True)
class ProviderView:
    name: str
    """`coreml`"""
    registered_name: str
    """as ONNX Runtime names it: `CoreML`"""
    options: tuple[OptionView, ...]


@dataclass(frozen=True, kw_only=True)
class PlatformProvidersView:
    """What the models of a package run on, on one platform."""

    name: str
    """`android` or `ios`"""
    runtime_version: str
    """of the ONNX Runtime that the package has there; empty when nobody knows"""
    providers: tuple[ProviderView, ...]
    """in the order in which they are tried, without the CPU"""


@dataclass(frozen=True, kw_only=True)
class TensorView:
    identifier: str
    tensor: str
    element: str
    """as the ONNX specification names it: `float`"""
    type: str
    """as JavaScript names it: `float32`"""
    array: str
    """what holds the values: `Float32Array`, or `string[]`"""
    shape: str
    """for people, with the names of dimensions"""
    sizes: tuple[str, ...]
    """literals: a number, or `null` for a size that is open"""
    shape_type: str
    """`readonly [number, 3, 224, 224]`"""
    is_inferable: bool
    """its shape follows from the number of values: one size at most is open, and then none is 0"""
    is_pinned: bool
    """its size is known before a run, and its values have one"""


@dataclass(frozen=True, kw_only=True)
class FlatFile:
    """A file of models on its way into the package. Files have no folders on a phone: their names are unique."""

    path: str
    """its name: `orientation.ort`"""
    file: Path
    sha256: str
    ends_sha256: str
    """of its first and last blocks"""
    size_bytes: int


@dataclass(frozen=True, kw_only=True)
class WeightsView:
    """A file with weights of an ONNX file."""

    name: str
    """that the ONNX file has for it"""
    path: str
    sha256: str
    ends_sha256: str
    """of its first and last blocks"""
    size_bytes: int


@dataclass(frozen=True, kw_only=True)
class FileView:
    """A file of a model, and who opens it."""

    path: str
    sha256: str
    ends_sha256: str
    """of its first and last blocks"""
    size_bytes: int
    providers: tuple[str, ...]
    """`xnnpack`, `cpu`"""
    chips: tuple[str, ...]
    """what Android's Build.SOC_MODEL must be; empty for any"""
    settings: tuple[OptionView, ...]
    """session configuration entries"""
    weights: tuple[WeightsView, ...]
    """of an ONNX file; another provider's ORT file may be among them"""
    is_float16: bool
    """it computes with 16-bit floats"""


@dataclass(frozen=True, kw_only=True)
class PlatformView:
    """The files of a model on one platform."""

    name: str
    files: tuple[FileView, ...]
    """in the order in which they are tried"""


@dataclass(frozen=True, kw_only=True)
class GoldenView:
    """A file of golden vectors."""

    file: FlatFile
    files: tuple[TestedFileView, ...]
    samples: tuple[GoldenSampleView, ...]


@dataclass(frozen=True, kw_only=True)
class ModelView:
    """The module of one model."""

    class_name: str
    name: str
    file: str
    """of the module, without its suffix: `orientation`"""
    hook: str
    """`useOrientation`"""
    source: str
    """name of the file that the user gave"""
    source_sha256: str
    version: str
    inputs: tuple[TensorView, ...]
    outputs: tuple[TensorView, ...]
    platforms: tuple[PlatformView, ...]
    golden: tuple[GoldenView, ...]
    """empty for a model without a self-test"""
    samples: str
    """what a self-test runs on, in words"""
    typed: TypedView | None
    """of a model with a contract"""
    example: tuple[str, ...]
    """lines of TypeScript that load the model and run it, for the documentation"""


@dataclass(frozen=True, kw_only=True)
class NamesView:
    """All other files: what they call the package, and what it needs."""

    npm_name: str
    version: str
    description: str
    license: str
    """as package.json names it"""
    module: str
    """`PageOrientation`"""
    cpp_namespace: str
    """below `mobpack`: two packages may be linked into one app"""
    cmake_target: str
    kotlin_package: str
    asset_folder: str
    """of the models, below Android's assets: `mobpack/PageOrientation`"""
    bundle: str
    """of the models on iOS: `PageOrientationModels`"""
    spec: str
    """what codegen calls its output: `PageOrientationSpec`"""
    library: str
    """ONNX Runtime's file on Android: `libonnxruntime.so`"""
    android_runtime: str
    """Maven coordinates of ONNX Runtime; empty when its libraries are in the package"""
    android_version: str
    ios_version: str
    ios_framework: str
    """ONNX Runtime's .xcframework in the package; empty for the pod onnxruntime-c"""
    min_ios: str
    min_sdk: int
    compile_sdk: int
    react_native: str
    """the oldest that the package works with"""
    has_telemetry: bool
    """Android's ONNX Runtime has a manifest that starts telemetry"""
    has_self_test: bool
    platforms: tuple[PlatformProvidersView, ...]
    models: tuple[ModelView, ...]
    exports: tuple[ExportView, ...]
    """what the package has for contracts; empty without any"""


@dataclass(frozen=True, kw_only=True)
class License:
    name: str
    file: Path


@dataclass(frozen=True, kw_only=True)
class PlacedFile:
    """A file of models, and its folder in the package: `both`, `android` or `ios`."""

    folder: str
    content: FlatFile


@dataclass(frozen=True, kw_only=True)
class ReactNativeView:
    """All of a package."""

    package: Package
    names: NamesView
    files: tuple[PlacedFile, ...]
    licenses: tuple[License, ...]
    libraries: Mapping[PurePosixPath, Path]
    """an ONNX Runtime that comes along, by place in the package"""
    own_texts: Mapping[PurePosixPath, str]
    """what of it is not as it was"""
