"""What the Swift templates print: every decision is taken here, the templates only lay it out."""

from dataclasses import dataclass
from pathlib import Path

from packager.core.contract import Contract
from packager.core.values import Package
from packager.targets.dimensions import DimensionView
from packager.targets.golden import GoldenSampleView, TestedFileView
from packager.targets.ios.typed_view import TypedView
from packager.xcframework.packaged import PackagedFramework


@dataclass(frozen=True, kw_only=True)
class OptionView:
    key: str
    value: str


@dataclass(frozen=True, kw_only=True)
class ProviderView:
    name: str
    """of its partials in templates/ios/_providers"""
    case: str
    """of the enum Provider: `coreML`"""


@dataclass(frozen=True, kw_only=True)
class CoremlView:
    """The package's own choices for CoreML: Swift expressions for the defaults of CoreMLOptions."""

    model_format: str
    compute_units: str
    requires_static_input_shapes: str
    enables_subgraphs: str
    specialization: str
    profiles_compute_plan: str
    allows_low_precision: str


@dataclass(frozen=True, kw_only=True)
class RuntimeView:
    """The files that all models of a package share."""

    module: str
    """of the package's Swift code: `OrientationKit`"""
    c_module: str
    """of ONNX Runtime's C header: `COrientationKit`; every package has its own, for two may be in one app"""
    providers: tuple[ProviderView, ...]
    coreml: CoremlView | None
    """None for a package without CoreML"""
    has_contract: bool
    """a model takes more than tensors, or gives more"""
    has_pictures: bool
    has_states: bool
    """a model remembers what it was given before"""

    @property
    def uses_coreml(self) -> bool:
        return self.coreml is not None


@dataclass(frozen=True, kw_only=True)
class InputView:
    identifier: str
    tensor: str
    element: str
    shape: str
    """for people, with the names of dimensions"""
    swift_type: str
    """of one value"""
    zero: str
    """Swift expression"""
    tensor_type: str
    """struct that hands it to ONNX Runtime: `Fed` or `FedStrings`"""
    sizes: tuple[str, ...]
    """Swift expressions of type Int, where the input is made"""
    run_sizes: tuple[str, ...]
    """the same where `input` is run"""


@dataclass(frozen=True, kw_only=True)
class OutputView:
    identifier: str
    tensor: str
    element: str
    shape: str
    swift_type: str
    zero: str
    sizes: tuple[str, ...]
    """of a pinned output"""
    lent: str
    """variable that holds a pinned output during a run"""
    shape_identifier: str


@dataclass(frozen=True, kw_only=True)
class Resource:
    """A file on its way into the package."""

    path: str
    """below the bundle's folder `Models`: `orientation/model.ort`"""
    file: Path
    sha256: str
    ends_sha256: str
    """of its first and last blocks"""
    size_bytes: int


@dataclass(frozen=True, kw_only=True)
class FileView:
    """A file of a model, and who opens it."""

    providers: tuple[str, ...]
    """cases of the enum Provider"""
    resource: Resource
    settings: tuple[OptionView, ...]
    """session configuration entries"""
    weights: tuple[Resource, ...]
    """of an ONNX file: they lie in its folder under the names that it has for them; another provider's ORT file may be
    among them"""
    is_float16: bool
    """it computes with 16-bit floats"""


@dataclass(frozen=True, kw_only=True)
class GoldenView:
    """A file of golden vectors."""

    resource: Resource
    files: tuple[TestedFileView, ...]
    samples: tuple[GoldenSampleView, ...]


@dataclass(frozen=True, kw_only=True)
class ModelView:
    """The file of one model."""

    class_name: str
    name: str
    source: str
    """name of the file that the user gave"""
    source_sha256: str
    runtime_version: str
    version: str
    files: tuple[FileView, ...]
    example: tuple[str, ...]
    """lines of Swift that load the model and run it, for the documentation"""
    dimensions: tuple[DimensionView, ...]
    has_default_input: bool
    """an input can be made without arguments"""
    inputs: tuple[InputView, ...]
    pinned_outputs: tuple[OutputView, ...]
    """written by ONNX Runtime into memory of the app"""
    copied_outputs: tuple[OutputView, ...]
    """made by ONNX Runtime, then copied: their size is known after the run only"""
    golden: tuple[GoldenView, ...]
    """empty for a model without a self-test"""
    samples: str
    """what a self-test runs on, in words"""
    typed: TypedView | None
    """None for a model without a contract"""


@dataclass(frozen=True, kw_only=True)
class TestsView:
    """The tests that the package has for itself."""

    module: str
    models: tuple[ModelView, ...]


@dataclass(frozen=True, kw_only=True)
class ReadmeView:
    package: str
    module: str
    description: str
    runtime_version: str
    min_ios: str
    min_macos: str
    uses_coreml: bool
    has_static_frameworks: bool
    """Xcode copies its ONNX Runtime into apps, which the App Store may refuse for that"""
    is_runtime_unknown: bool
    """its ONNX Runtime is at an address that nobody has opened"""
    has_self_test: bool
    has_pictures: bool
    models: tuple[ModelView, ...]


@dataclass(frozen=True, kw_only=True)
class DocumentationView:
    """The page that Xcode's documentation of the module opens with."""

    module: str
    uses_coreml: bool
    has_self_test: bool
    values: tuple[str, ...]
    """types of what models with contracts take and give"""
    models: tuple[ModelView, ...]


@dataclass(frozen=True, kw_only=True)
class License:
    name: str
    file: Path


@dataclass(frozen=True, kw_only=True)
class FrameworkView:
    """Where SwiftPM takes ONNX Runtime from."""

    name: str
    """of the framework: `onnxruntime`"""
    version: str
    url: str
    """of an archive; empty when the package holds the framework itself"""
    checksum: str
    path: str
    """in the package: `Frameworks/onnxruntime.xcframework`; empty when `url` says it"""


@dataclass(frozen=True, kw_only=True)
class IosView:
    """All of a package."""

    package: Package
    runtime: RuntimeView
    models: tuple[ModelView, ...]
    framework: FrameworkView
    min_ios: str
    min_macos: str
    resources: tuple[Resource, ...]
    licenses: tuple[License, ...]
    contracts: tuple[Contract, ...]
    """of the models that have one"""
    own: PackagedFramework | None = None
    """the runtime that takes the place of the published one"""
