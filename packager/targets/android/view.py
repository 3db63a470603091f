"""What the Kotlin templates print: every decision is taken here, the templates only lay it out."""

from dataclasses import dataclass
from pathlib import Path

from packager.core.values import Package
from packager.targets.dimensions import DimensionView
from packager.targets.golden import GoldenSampleView, TestedFileView
from packager.targets.target import PackagedRuntime


@dataclass(frozen=True, kw_only=True)
class OptionView:
    key: str
    value: str


@dataclass(frozen=True, kw_only=True)
class ProviderView:
    name: str
    """of its partials in templates/android/_providers"""
    constant: str
    """in the enum Provider"""
    options: tuple[OptionView, ...]


@dataclass(frozen=True, kw_only=True)
class RuntimeView:
    """The files that all models of a package share."""

    kotlin_package: str
    onnxruntime: str
    """the Java package of ONNX Runtime's classes"""
    providers: tuple[ProviderView, ...]
    uses_nnapi: bool


@dataclass(frozen=True, kw_only=True)
class InputView:
    identifier: str
    tensor: str
    element: str
    shape: str
    """for people, with the names of dimensions"""
    note: str
    """how its values are stored, where that is not obvious"""
    kotlin_type: str
    is_string: bool
    java_type: str
    """constant of OnnxJavaType"""
    element_bytes: str
    as_buffer: str
    """turns a ByteBuffer into `kotlin_type`"""
    sizes: tuple[str, ...]
    """Kotlin expressions of type Int"""


@dataclass(frozen=True, kw_only=True)
class OutputView:
    identifier: str
    tensor: str
    element: str
    shape: str
    note: str
    kotlin_type: str
    java_type: str
    element_bytes: str
    as_buffer: str
    sizes: tuple[str, ...]
    """of a pinned output"""
    getter: str
    """property of OnnxTensor that copies the values out"""
    empty: str
    """value before the first run"""
    shape_identifier: str


@dataclass(frozen=True, kw_only=True)
class Asset:
    """A file on its way into the package."""

    path: str
    """below assets/"""
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
    asset: Asset


@dataclass(frozen=True, kw_only=True)
class FileView:
    """A file of a model, and who opens it."""

    providers: tuple[str, ...]
    """constants of the enum Provider"""
    asset: Asset
    chips: tuple[str, ...]
    """what Build.SOC_MODEL must be; empty for any"""
    settings: tuple[OptionView, ...]
    """session configuration entries"""
    weights: tuple[WeightsView, ...]
    """of an ONNX file; another provider's ORT file may be among them"""


@dataclass(frozen=True, kw_only=True)
class GoldenView:
    """A file of golden vectors."""

    asset: Asset
    files: tuple[TestedFileView, ...]
    samples: tuple[GoldenSampleView, ...]


@dataclass(frozen=True, kw_only=True)
class ParameterView:
    """Of the method that takes pictures and gives labels."""

    identifier: str
    kotlin_type: str
    default: str
    """what the type is followed by: ` = 1` or nothing"""
    about: str
    """a sentence, where its type does not say enough"""


@dataclass(frozen=True, kw_only=True)
class ArgumentView:
    """What makes a model's Input of the parameters."""

    identifier: str
    """of Input"""
    value: str
    """a Kotlin expression over the parameters"""


@dataclass(frozen=True, kw_only=True)
class ResultView:
    """What the method gives, or one of several things."""

    identifier: str
    kotlin_type: str
    value: str
    """a Kotlin expression over `output`"""
    about: str
    """a sentence"""


@dataclass(frozen=True, kw_only=True)
class StateView:
    """What one call leaves for the next."""

    input: InputView
    output: str
    """identifier"""
    is_pinned: bool
    """the output lies in memory that can be an input"""


@dataclass(frozen=True, kw_only=True)
class WordsView:
    """Labels or an alphabet."""

    identifier: str
    pieces: tuple[str, ...]
    """lines, several in each"""


@dataclass(frozen=True, kw_only=True)
class TypedView:
    """What the class of a model with a contract has more."""

    verb: str
    kotlin_type: str
    """of what it gives"""
    about: str
    """what it gives: a sentence"""
    example: str
    """a call"""
    parameters: tuple[ParameterView, ...]
    """those of the contract, then the sizes of its tensors"""
    top: str
    """the parameter that says how many classes, or nothing"""
    default_top: int
    takes_bitmap: bool
    """a picture is all that it takes"""
    arguments: tuple[ArgumentView, ...]
    results: tuple[ResultView, ...]
    is_several: bool
    """the results are put into one value"""
    states: tuple[StateView, ...]
    words: tuple[WordsView, ...]


@dataclass(frozen=True, kw_only=True)
class ModelView:
    """The file of one model."""

    kotlin_package: str
    class_name: str
    name: str
    source: str
    """name of the file that the user gave"""
    source_sha256: str
    runtime_version: str
    version: str
    files: tuple[FileView, ...]
    imports: tuple[str, ...]
    input_example: str
    """fills the first input, for the documentation; empty when there is none"""
    output_example: str
    """reads the first output"""
    dimensions: tuple[DimensionView, ...]
    has_default_dimensions: bool
    inputs: tuple[InputView, ...]
    pinned_outputs: tuple[OutputView, ...]
    """written by ONNX Runtime into memory of the app"""
    copied_outputs: tuple[OutputView, ...]
    """made by ONNX Runtime, then copied: their size is known after the run only"""
    golden: tuple[GoldenView, ...]
    """empty for a model without a self-test"""
    samples: str
    """what a self-test runs on, in words"""
    typed: TypedView | None = None


@dataclass(frozen=True, kw_only=True)
class License:
    name: str
    file: Path


@dataclass(frozen=True, kw_only=True)
class AndroidView:
    """All of a package."""

    package: Package
    group: str
    namespace: str
    """of the Android library; the Kotlin package too"""
    runtime: RuntimeView
    models: tuple[ModelView, ...]
    typed_files: tuple[str, ...]
    """names of the Kotlin files that contracts need besides"""
    assets: tuple[Asset, ...]
    licenses: tuple[License, ...]
    own: PackagedRuntime | None
    """the runtime that takes the place of the published one"""
    onnxruntime: str
    """coordinates of the runtime that the package depends on; empty when it is inside"""
