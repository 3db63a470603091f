"""Views of the Flutter templates: all decisions are made here; templates only lay out the values."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from packager.core.chat import ChatTemplate
from packager.core.contract import Streamed
from packager.core.values import Package, Sources
from packager.providers import Provider
from packager.targets.delivery import DeliveryView
from packager.targets.golden import GoldenSampleView, TestedFileView
from packager.targets.pipelines import PipelineView
from packager.targets.signed_list import TrustView
from packager.targets.swift_runtime import DependencyView
from packager.targets.xcframework.packaged import PackagedFramework


@dataclass(frozen=True, kw_only=True)
class SettingView:
    key: str
    value: str


@dataclass(frozen=True, kw_only=True)
class ProviderView:
    name: str
    """value of the enum Provider: `xnnpack`, `coreml`"""
    options: tuple[SettingView, ...]


@dataclass(frozen=True, kw_only=True)
class TensorView:
    identifier: str
    tensor: str
    element: str
    """name in the ONNX specification: `float`"""
    type: str
    """value of the enum ElementType: `float32`"""
    data: str
    """type of its values: `Float32List`"""
    shape: str
    """for documentation, with the names of dimensions"""
    sizes: tuple[str, ...]
    """literals: a number, or `null` for an open size"""
    is_inferable: bool
    """whether its shape follows from the number of values"""


@dataclass(frozen=True, kw_only=True)
class AssetView:
    """A file of a package."""

    name: str
    sha256: str
    size_bytes: int


@dataclass(frozen=True, kw_only=True)
class WeightsView:
    reference: str
    """what the ONNX file calls it"""
    asset: AssetView


@dataclass(frozen=True, kw_only=True)
class FileView:
    asset: AssetView
    providers: tuple[str, ...]
    nodes: Mapping[str, int]
    """provider -> number of nodes with MACs that it takes, where rules tell"""
    chips: tuple[str, ...]
    """chips that it is for, by their Android names, or identifiers of Apple's devices; empty for any"""
    variant: str
    """variant that these chips open in the place of the package's; empty for a file of that"""
    settings: tuple[SettingView, ...]
    """session configuration entries"""
    weights: tuple[WeightsView, ...]
    is_float16: bool
    """whether it computes with 16-bit floats"""


@dataclass(frozen=True, kw_only=True)
class TunedView:
    """Settings of a model that were measured on a chip."""

    chip: str
    providers: tuple[str, ...]
    """values of the enum Provider; empty where the package's own order holds"""
    threads: int
    options: tuple[ProviderView, ...]


@dataclass(frozen=True, kw_only=True)
class SetupView:
    """A model on one platform."""

    name: str
    """`android` or `ios`"""
    oldest_runtime: str
    """oldest ONNX Runtime that opens its files"""
    providers: tuple[ProviderView, ...]
    files: tuple[FileView, ...]
    tuned: tuple[TunedView, ...]


@dataclass(frozen=True, kw_only=True)
class GoldenView:
    asset: AssetView
    files: tuple[TestedFileView, ...]
    samples: tuple[GoldenSampleView, ...]


@dataclass(frozen=True, kw_only=True)
class ParameterView:
    """A parameter of the method that a contract gives."""

    name: str
    type: str
    """`Picture`"""
    made: str
    """variable with its tensors: `imageTensors`; empty for a tensor"""
    maker: str
    """expression that makes them; empty for a tensor"""


@dataclass(frozen=True, kw_only=True)
class StateView:
    """A tensor that a model carries from one call to the next."""

    first: str
    """expression of the first call's tensor"""
    next: str
    """key of the output that becomes the next one"""
    place: int
    """of that output, from 0"""


@dataclass(frozen=True, kw_only=True)
class ResultView:
    """One of several results."""

    name: str
    about: str
    type: str
    value: str


@dataclass(frozen=True, kw_only=True)
class LabelsView:
    name: str
    texts: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class GenerationView:
    """A text that a model makes in many runs."""

    text: str
    """expression of what a run adds"""
    finished: str
    """expression of whether it was the last run"""
    has_seed: bool
    chat: ChatTemplate | None


@dataclass(frozen=True, kw_only=True)
class ListsView:
    """The method for several texts in a run."""

    verb: str
    """`embedAll`"""
    parameters: tuple[ParameterView, ...]


@dataclass(frozen=True, kw_only=True)
class RankView:
    """The method that ranks documents by a query."""

    query: str
    document: str
    documents: str


@dataclass(frozen=True, kw_only=True)
class TypedView:
    """The method of a model with a contract."""

    verb: str
    about: str
    parameters: tuple[ParameterView, ...]
    frame: str
    """type of a frame: that of the parameter, or a record of several"""
    arguments: tuple[str, ...]
    """the parameters of a `frame`"""
    fed: tuple[str, ...]
    """expressions of the model's inputs, in its order"""
    top: str
    """default number of classes; empty for other results"""
    result: str
    """type of the result"""
    value: str
    """expression over `outputs`"""
    results: tuple[ResultView, ...]
    """the several results; empty for one"""
    texts: tuple[str, ...]
    """parameters that several results refer to"""
    generation: GenerationView | None
    streamed: Streamed | None
    lists: ListsView | None
    rank: RankView | None
    states: tuple[StateView, ...]
    labels: tuple[LabelsView, ...]


@dataclass(frozen=True, kw_only=True)
class PageView:
    """The module of a model for pages."""

    module: str
    """its file in the package: `web/lib/models/orientation.js`"""
    name: str
    """what it exports: `Orientation`"""


@dataclass(frozen=True, kw_only=True)
class UsageView:
    """A function that an app may copy."""

    imports: tuple[str, ...]
    """libraries of Dart's own that it needs"""
    opening: tuple[str, ...]
    """lines up to its body: `Future<void> readOnce(String text) async {`"""


@dataclass(frozen=True, kw_only=True)
class ModelView:
    """The file of one model."""

    class_name: str
    name: str
    file: str
    """its file's name, without the suffix"""
    source: str
    """name of the user's model file"""
    source_sha256: str
    package: str
    """name of the pub package"""
    version: str
    library: str
    """ONNX Runtime's library on Android: `libonnxruntime.so`"""
    inputs: tuple[TensorView, ...]
    outputs: tuple[TensorView, ...]
    setups: tuple[SetupView, ...]
    same_files: tuple[FileView, ...]
    """those of every platform; empty where platforms differ, or there is one"""
    golden: tuple[GoldenView, ...]
    """empty for a model without a self-test"""
    samples: str
    """description of the self-test's samples"""
    page: PageView | None
    """None in a package without files for pages"""
    typed: TypedView | None
    """None for a model without a contract"""
    is_signed: bool
    """whether its package opens signed files alone"""
    is_encrypted: bool
    is_tuned: bool
    """whether it has settings for some chips"""
    variants: tuple[str, ...]
    """names of the files of variants that only some chips open"""
    contract: str
    """hex sha256 of the API that its code has; empty for a package without a channel"""
    has_numbers: bool
    """whether a tensor has numbers"""
    modules: tuple[str, ...]
    """files of the runtime that its file imports"""
    example: tuple[str, ...]
    """lines of Dart that load the model and run it"""
    usage: UsageView
    """a function with these lines"""


@dataclass(frozen=True, kw_only=True)
class PipelineFileView:
    """The file of one pipeline."""

    package: str
    """name of the pub package"""
    file: str
    """its file's name, without the suffix"""
    pipeline: PipelineView
    has_numbers: bool
    """whether a result has a type of dart:typed_data"""


@dataclass(frozen=True, kw_only=True)
class DeclaredAssetView:
    """An entry of the list of assets in pubspec.yaml."""

    path: str
    platforms: tuple[str, ...]
    """platforms whose apps get it"""


@dataclass(frozen=True, kw_only=True)
class AndroidView:
    """The half for Android."""

    namespace: str
    runtime: str
    """Maven coordinates of ONNX Runtime; empty if its libraries are in the package"""
    module: str
    """the same without a version"""
    runtime_version: str
    oldest_runtime: str
    """oldest version that an app may bring instead; empty if only `runtime_version` will do"""
    min_sdk: int
    compile_sdk: int
    providers_in_readme: tuple[str, ...]
    """providers that need something of the app"""


@dataclass(frozen=True, kw_only=True)
class AppleView:
    """The half for iOS and macOS: a Swift package."""

    plugin: str
    """class that Flutter registers: `VisionPlugin`"""
    product: str
    """name by which Flutter finds the library: that of the package with '-' for '_'"""
    c_module: str
    """target of C beside that of Swift"""
    swift_tools: str
    runtime: DependencyView
    """the package of ONNX Runtime, in the folder of this one"""
    runtime_version: str
    min_ios: str
    min_macos: str


@dataclass(frozen=True, kw_only=True)
class NamesView:
    """Names and dependencies of the package, for all files but those of single models."""

    pub_name: str
    version: str
    description: str
    home_page: str
    repository: str
    """address of its sources"""
    android: AndroidView | None
    apple: AppleView | None
    has_telemetry: bool
    """whether the manifest of Android's ONNX Runtime starts telemetry"""
    all_providers: tuple[type[Provider], ...]
    providers_in_manifest: tuple[str, ...]
    """Android's providers with elements of their own in the manifest"""
    oldest_runtime: str
    """oldest ONNX Runtime for desktops"""
    platforms: tuple[str, ...]
    """where the package runs"""
    systems: str
    """the same in words"""
    dart_sdk: str
    """oldest supported Dart"""
    flutter_sdk: str
    """oldest supported Flutter"""
    assets: tuple[DeclaredAssetView, ...]
    """files of models"""
    too_large: tuple[str, ...]
    """files that Android apps bring by themselves, because they are too large for assets"""
    page_assets: tuple[str, ...]
    """paths of the files for pages; empty without any"""
    page_runtime: str
    """version of ONNX Runtime for pages; empty without files for pages"""
    has_self_test: bool
    results: Mapping[str, str]
    """files of the runtime with results, and what each shows to apps"""
    trust: TrustView | None
    """None for a package that opens its files unsigned"""
    delivery: DeliveryView | None
    """None for a package whose models come with the app alone"""
    runtimes: tuple[SettingView, ...]
    """by target, the ONNX Runtime that its files were proved with"""
    is_encrypted: bool
    models: tuple[ModelView, ...]
    pipelines: tuple[PipelineFileView, ...]


@dataclass(frozen=True, kw_only=True)
class FlutterView:
    """View of a whole package."""

    package: Package
    names: NamesView
    files: Mapping[str, Path]
    """files of models by name"""
    web: Sources
    """files for pages"""
    licenses: Mapping[str, Path]
    """licence files of models by name"""
    libraries: Mapping[PurePosixPath, Path]
    """bundled ONNX Runtime, by path in the package"""
    links: Mapping[PurePosixPath, str]
    """links in it"""
    own_ios: PackagedFramework | None
    """ONNX Runtime of the user's own for Apple's systems"""
    own_texts: Mapping[PurePosixPath, str]
    """texts of the package of ONNX Runtime for Apple's systems, and the privacy manifest"""
