"""Views of the Swift templates: all decisions are made here; templates only lay out the values."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from packager.core.contract import Contract
from packager.core.values import Package
from packager.render.templates import swift_integer, swift_string
from packager.targets.delivery import DeliveryView
from packager.targets.dimensions import DimensionView
from packager.targets.golden import ToleranceView
from packager.targets.ios.lines import filled
from packager.targets.ios.typed_view import TypedView
from packager.targets.pipelines import PipelineView
from packager.targets.signed_list import TrustView
from packager.targets.swift_runtime import DependencyView, FrameworkView
from packager.targets.tuning import ChipView
from packager.targets.xcframework.packaged import PackagedFramework


@dataclass(frozen=True, kw_only=True)
class OptionView:
    key: str
    value: str


@dataclass(frozen=True, kw_only=True)
class ProviderView:
    name: str
    """name of its partials in templates/ios/_providers"""
    case: str
    """case of the enum Provider: `coreML`"""
    registered_name: str
    """ONNX Runtime's name: `CoreML`"""
    summary: str
    """what it computes on, in a sentence"""
    is_on_cores: bool
    """whether the threads of a session do its work"""
    hides_nodes: bool
    """whether ONNX Runtime does not record the nodes that it lays out anew for it"""
    has_threads: bool
    """whether it has threads of its own"""
    entries: str
    """Swift expression: the settings with which it starts"""


@dataclass(frozen=True, kw_only=True)
class CoremlView:
    """The package's CoreML settings: Swift expressions for the defaults of CoreMLOptions."""

    model_format: str
    compute_units: str
    requires_static_input_shapes: str
    enables_subgraphs: str
    specialization: str
    profiles_compute_plan: str
    allows_low_precision: str


@dataclass(frozen=True, kw_only=True)
class RuntimeView:
    """Files that all models of a package share."""

    module: str
    """Swift module of the package: `OrientationKit`"""
    c_module: str
    """module of ONNX Runtime's C header: `COrientationKit`; one per package, because an app may contain two packages"""
    package: str
    """name of the package: `page-orientation`"""
    providers: tuple[ProviderView, ...]
    coreml: CoremlView | None
    """None for a package without CoreML"""
    has_contract: bool
    """whether a model has a contract"""
    has_pictures: bool
    has_generation: bool
    """whether a model generates a text"""
    has_self_test: bool
    """whether its models, or those of its channel, come with samples of what they computed"""
    has_proof: bool
    """whether providers can be proved on a device: there are some beside the CPU, and samples"""
    class_names: tuple[str, ...]
    """classes of the models"""
    trust: TrustView | None = None
    """what files are verified with; None for a package that opens them unsigned"""
    is_encrypted: bool = False
    """whether files are decrypted when they are opened"""
    delivery: DeliveryView | None = None
    """None for a package whose models come with the app alone"""
    published_runtime: str = ""
    """ONNX Runtime of the package, as documents of channels name it; empty without `delivery`"""
    tuned: tuple[ChipView, ...] = ()
    has_variants: bool = False
    """whether some devices open another variant"""

    @property
    def uses_coreml(self) -> bool:
        return self.coreml is not None


@dataclass(frozen=True, kw_only=True)
class InputView:
    identifier: str
    tensor: str
    element: str
    shape: str
    """for documentation, with the names of dimensions"""
    swift_type: str
    """type of one value"""
    zero: str
    """Swift expression"""
    sizes: tuple[str, ...]
    """Swift expressions of type Int, in the initializer of Input"""
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
    """sizes of a pinned output"""
    shape_identifier: str


@dataclass(frozen=True, kw_only=True)
class Resource:
    """A file to put into the package."""

    path: str
    """path below the bundle's folder `Models`: `orientation/model.ort`"""
    file: Path
    sha256: str
    ends_sha256: str
    """sha256 of its first and last blocks"""
    size_bytes: int

    @property
    def arguments(self) -> tuple[str, ...]:
        """Lines of Swift: what a Resource is made of."""
        return filled(
            (
                f"path: {swift_string(self.path)}",
                f"sha256: {swift_string(self.sha256)}",
                f"endsSha256: {swift_string(self.ends_sha256)}",
                f"sizeBytes: {swift_integer(self.size_bytes)}",
            ),
            indent=20,
        )


@dataclass(frozen=True, kw_only=True)
class FileView:
    """A file of a model, and the providers that open it."""

    providers: tuple[str, ...]
    """cases of the enum Provider"""
    nodes: Mapping[str, int]
    """provider -> number of nodes with MACs that it takes, where rules tell"""
    resource: Resource
    settings: tuple[OptionView, ...]
    """session configuration entries"""
    weights: tuple[Resource, ...]
    """weights files of an ONNX file, in its folder under the names that it refers to; another provider's ORT file may
    be among them"""
    is_float16: bool
    """whether it computes with 16-bit floats"""
    devices: tuple[str, ...]
    """identifiers of the devices that open it in the place of another variant's file; empty for any"""


@dataclass(frozen=True, kw_only=True)
class SampleView:
    """A sample in a file of golden vectors."""

    places: tuple[str, ...]
    """lines of Swift: where its tensors lie"""


@dataclass(frozen=True, kw_only=True)
class TestedView:
    """Files of the model with the same tolerances."""

    paths: tuple[str, ...]
    """lines of Swift"""
    tolerances: tuple[ToleranceView, ...]
    """of the outputs that need not be equal"""


@dataclass(frozen=True, kw_only=True)
class GoldenView:
    """A file of golden vectors."""

    resource: Resource
    tested: tuple[TestedView, ...]
    samples: tuple[SampleView, ...]


@dataclass(frozen=True, kw_only=True)
class ModelView:
    """The file of one model."""

    class_name: str
    name: str
    source: str
    """name of the user's model file"""
    source_sha256: str
    runtime_version: str
    version: str
    files: tuple[FileView, ...]
    example: tuple[str, ...]
    """lines of Swift that load the model and run it, for the documentation"""
    dimensions: tuple[DimensionView, ...]
    has_default_input: bool
    """whether an input can be made without arguments"""
    inputs: tuple[InputView, ...]
    input_values: tuple[str, ...]
    """lines of Swift: declares the initializer that takes values and sizes"""
    input_zeros: tuple[str, ...]
    """lines of Swift: the initializer that takes sizes alone"""
    input_sizes: tuple[str, ...]
    """lines of Swift: makes an input of the sizes of `tensors`"""
    kept_sizes: tuple[str, ...]
    """lines of Swift: keeps the sizes that the initializer was given"""
    declared: tuple[str, ...]
    """lines of Swift: inputs and outputs of the model's file, `nil` for sizes that the app chooses"""
    pinned_outputs: tuple[OutputView, ...]
    """outputs that ONNX Runtime writes into memory of the app"""
    copied_outputs: tuple[OutputView, ...]
    """outputs that ONNX Runtime allocates and the app copies: their size is known only after the run"""
    golden: tuple[GoldenView, ...]
    """empty for a model without a self-test"""
    typed: TypedView | None
    """None for a model without a contract"""
    contract_hash: str = ""
    """of the model's API; empty for a package whose models come with the app alone"""


@dataclass(frozen=True, kw_only=True)
class PipelineFileView:
    """The file of one pipeline."""

    pipeline: PipelineView


@dataclass(frozen=True, kw_only=True)
class TestsView:
    """Unit tests in the package."""

    module: str
    models: tuple[ModelView, ...]


@dataclass(frozen=True, kw_only=True)
class ReadmeView:
    package: str
    module: str
    description: str
    runtime_folder: str
    """folder of the runtime's package, beside this one; empty if another package brings ONNX Runtime"""
    runtime_version: str
    min_ios: str
    min_macos: str
    uses_coreml: bool
    has_static_frameworks: bool
    """whether Xcode copies ONNX Runtime into apps, which the App Store may reject"""
    is_runtime_unknown: bool
    """whether ONNX Runtime is at an address, so that its version is unknown"""
    has_self_test: bool
    has_pictures: bool
    channel: str
    """where newer models come from; empty for a package whose models come with the app alone"""
    models: tuple[ModelView, ...]
    pipelines: tuple[PipelineFileView, ...]


@dataclass(frozen=True, kw_only=True)
class DocumentationView:
    """Landing page of the module's documentation in Xcode."""

    module: str
    uses_coreml: bool
    has_self_test: bool
    values: tuple[str, ...]
    """types of the contracts' parameters and results"""
    models: tuple[ModelView, ...]
    pipelines: tuple[PipelineFileView, ...]


@dataclass(frozen=True, kw_only=True)
class License:
    name: str
    file: Path


@dataclass(frozen=True, kw_only=True)
class IosView:
    """View of a whole package."""

    package: Package
    runtime: RuntimeView
    models: tuple[ModelView, ...]
    pipelines: tuple[PipelineFileView, ...]
    framework: FrameworkView
    dependency: DependencyView
    has_runtime: bool
    """whether the runtime's package is built beside this one"""
    min_ios: str
    min_macos: str
    resources: tuple[Resource, ...]
    licenses: tuple[License, ...]
    contracts: tuple[Contract, ...]
    """contracts of the models that have one"""
    own: PackagedFramework | None = None
    """the runtime that replaces the published one"""
