"""Views of the Kotlin templates: all decisions are made here; templates only lay out the values."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from packager.core.chat import ChatTemplate
from packager.core.contract import Streamed
from packager.core.values import Package
from packager.targets.delivery import DeliveryView
from packager.targets.dimensions import DimensionView
from packager.targets.golden import GoldenSampleView, TestedFileView
from packager.targets.pipelines import PipelineView
from packager.targets.signed_list import TrustView
from packager.targets.target import RuntimeRange
from packager.targets.tuning import ChipView


@dataclass(frozen=True, kw_only=True)
class OptionView:
    key: str
    value: str


@dataclass(frozen=True, kw_only=True)
class ProviderView:
    name: str
    """name of its partials in templates/android/_providers"""
    constant: str
    """constant of the enum Provider"""
    summary: str
    """what it computes on, in a sentence"""
    is_on_cores: bool
    """whether the threads of a session do its work"""
    execution_provider: str
    """its name in ONNX Runtime"""
    hides_nodes: bool
    java_method: str
    """method of SessionOptions that adds it, if it has no partial that does"""
    threads_option: str
    """its option with the number of threads; empty if there is none"""
    oldest_android: int
    """first API level that has it; 0 for any"""
    tolerance: str
    """Kotlin expression: how far outputs may be off because it rounds; empty if it does not"""
    options: tuple[OptionView, ...]


@dataclass(frozen=True, kw_only=True)
class RuntimeView:
    """Files that all models of a package share."""

    kotlin_package: str
    is_android: bool = True
    """whether the code is for Android; if not, for Java's virtual machine on servers and desktops"""
    onnxruntime: str
    """Java package of ONNX Runtime's classes"""
    providers: tuple[ProviderView, ...]
    library: str
    """name of the library in C, which tells the assignment; empty where ONNX Runtime cannot tell it"""
    trust: TrustView | None = None
    is_encrypted: bool = False
    """whether files are decrypted when they are opened"""
    delivery: DeliveryView | None = None
    delivered_runtime: str = ""
    """ONNX Runtime of the package, as documents of channels name it"""
    tuned: tuple[ChipView, ...] = ()
    has_variants: bool = False
    """whether some chips open another variant of a model than others"""
    has_self_test: bool = False
    """whether its models, or releases of its channel, come with samples"""


@dataclass(frozen=True, kw_only=True)
class InputView:
    identifier: str
    tensor: str
    element: str
    shape: str
    """for documentation, with the names of dimensions"""
    note: str
    """storage of its values, if not obvious"""
    kotlin_type: str
    is_string: bool
    java_type: str
    """constant of OnnxJavaType"""
    element_bytes: str
    as_buffer: str
    """converts a ByteBuffer to `kotlin_type`"""
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
    sizes: tuple[str, ...]
    """sizes of a pinned output"""
    empty: str
    """value before the first run"""
    shape_identifier: str


@dataclass(frozen=True, kw_only=True)
class TensorTypeView:
    """An input or output, as a file of the app's own must have it."""

    name: str
    element: str
    """its name in ONNX"""
    shape: str
    """JSON: a list with -1 for any size, or null where the model does not keep to its shape"""


@dataclass(frozen=True, kw_only=True)
class SignatureView:
    inputs: tuple[TensorTypeView, ...]
    outputs: tuple[TensorTypeView, ...]


@dataclass(frozen=True, kw_only=True)
class Asset:
    """A file to put into the package."""

    path: str
    """path below assets/"""
    file: Path
    sha256: str
    ends_sha256: str
    """sha256 of its first and last blocks"""
    size_bytes: int


@dataclass(frozen=True, kw_only=True)
class WeightsView:
    """A weights file of an ONNX file."""

    name: str
    """its name in the ONNX file"""
    asset: Asset


@dataclass(frozen=True, kw_only=True)
class FileView:
    """A file of a model, and the providers that open it."""

    providers: tuple[str, ...]
    """constants of the enum Provider"""
    nodes: Mapping[str, int]
    """provider -> number of nodes with MACs that it takes, where rules tell"""
    asset: Asset
    chips: tuple[str, ...]
    """allowed values of Build.SOC_MODEL; empty for any"""
    variant: str = ""
    """variant that these chips open in the place of the package's; empty for the package's own"""
    settings: tuple[OptionView, ...]
    """session configuration entries"""
    weights: tuple[WeightsView, ...]
    """weights files of an ONNX file; another provider's ORT file may be among them"""


@dataclass(frozen=True, kw_only=True)
class GoldenView:
    """A file of golden vectors."""

    asset: Asset
    files: tuple[TestedFileView, ...]
    samples: tuple[GoldenSampleView, ...]


@dataclass(frozen=True, kw_only=True)
class ParameterView:
    """A parameter of the typed method."""

    identifier: str
    kotlin_type: str
    default: str
    """suffix of the type: ` = 1` or nothing"""
    about: str
    """a sentence, if the type alone is not clear"""


@dataclass(frozen=True, kw_only=True)
class ArgumentView:
    """A constructor argument of the model's Input, made from the parameters."""

    identifier: str
    """name in Input"""
    value: str
    """Kotlin expression over the parameters"""


@dataclass(frozen=True, kw_only=True)
class ResultView:
    """The result of the typed method, or one of several."""

    identifier: str
    kotlin_type: str
    value: str
    """Kotlin expression over `output`"""
    about: str
    """a sentence"""


@dataclass(frozen=True, kw_only=True)
class StateView:
    """A state that one call passes to the next."""

    input: InputView
    output: str
    """identifier of the output"""
    output_tensor: str
    """its name in the model"""
    is_pinned: bool
    """whether the output lies in memory that can be an input"""
    is_open: bool
    """whether its size differs from call to call"""
    first_sizes: tuple[str, ...]
    """sizes in the first run"""
    shape: str
    """property with the shape of an open one"""
    output_shape: str
    """property of Output with the next shape; empty for a pinned output"""
    memory: str
    """expression for new memory of the output's size"""


@dataclass(frozen=True, kw_only=True)
class GenerationView:
    """The parts that a model that generates a text needs besides its method."""

    finished: str
    """property of Output that is 1 after the last run"""
    later: tuple[str, ...]
    """arguments of every run but the first"""
    chat: ChatTemplate | None


@dataclass(frozen=True, kw_only=True)
class LabelsView:
    """Labels, an alphabet or units."""

    path: str
    """of the file, among Java's resources"""
    text: str
    """a line each"""


@dataclass(frozen=True, kw_only=True)
class TypedView:
    """The parts that a contract adds to a model's class."""

    verb: str
    kotlin_type: str
    """type of the result"""
    about: str
    """description of the result"""
    noun: str
    """name of the result in examples"""
    example: str
    """an example call"""
    parameters: tuple[ParameterView, ...]
    """parameters of the contract, then the sizes of its tensors"""
    kept: tuple[str, ...]
    """texts of which the results have parts: names of parameters"""
    ranks: bool
    """whether a method ranks several documents by one query"""
    top: str
    """parameter for the number of classes, or empty"""
    default_top: int
    takes_bitmap: bool
    """whether a picture is the only input"""
    arguments: tuple[ArgumentView, ...]
    results: tuple[ResultView, ...]
    is_several: bool
    """whether the results are combined into one value"""
    states: tuple[StateView, ...]
    labels: tuple[LabelsView, ...]
    lists: tuple[str, ...]
    """names of lists of the parameters, for a model that takes several texts in a run; empty for others"""
    generation: GenerationView | None
    """None for a model that gives everything at once"""
    streamed: Streamed | None
    """None for a model without streams"""


@dataclass(frozen=True, kw_only=True)
class ModelView:
    """The file of one model."""

    kotlin_package: str
    is_android: bool = True
    class_name: str
    name: str
    source: str
    """name of the user's model file"""
    source_sha256: str
    runtime_version: str
    version: str
    signature: SignatureView
    files: tuple[FileView, ...]
    imports: tuple[str, ...]
    input_example: str
    """code that fills the first input, for the documentation; empty without inputs"""
    output_example: str
    """code that reads the first output"""
    dimensions: tuple[DimensionView, ...]
    inputs: tuple[InputView, ...]
    pinned_outputs: tuple[OutputView, ...]
    """outputs that ONNX Runtime writes into memory of the app"""
    copied_outputs: tuple[OutputView, ...]
    """outputs that ONNX Runtime allocates and the app copies: their size is known only after the run"""
    golden: tuple[GoldenView, ...]
    """empty for a model without a self-test"""
    contract: str = ""
    """hex sha256 of the API, by which releases of a channel fit it; empty in packages without a channel"""
    typed: TypedView | None = None


@dataclass(frozen=True, kw_only=True)
class UpdatedModelsView:
    """The files about the models that a channel updates."""

    kotlin_package: str
    models: tuple[ModelView, ...]


@dataclass(frozen=True, kw_only=True)
class PipelineFileView:
    """The file of one pipeline."""

    kotlin_package: str
    is_android: bool
    pipeline: PipelineView


@dataclass(frozen=True, kw_only=True)
class License:
    name: str
    file: Path


@dataclass(frozen=True, kw_only=True)
class KotlinView:
    """View of a whole package, as its Kotlin needs it."""

    package: Package
    group: str
    namespace: str
    """the Kotlin package; of Android's libraries the namespace, too"""
    runtime: RuntimeView
    models: tuple[ModelView, ...]
    typed_files: tuple[str, ...]
    """names of the Kotlin files that contracts need in addition"""
    assets: tuple[Asset, ...]
    licenses: tuple[License, ...]
    onnxruntime: str
    """coordinates of the runtime that the package depends on; empty if it is bundled"""
    libraries: tuple[str, ...]
    """coordinates of the Kotlin libraries whose types are in public signatures"""
    allowed_runtimes: RuntimeRange | None = None
    """releases of the published runtime that apps may bring instead"""
