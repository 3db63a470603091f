"""Views of the TypeScript in npm packages: all decisions are made here; templates only lay out the values."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from packager.targets.golden import GoldenSampleView, TestedFileView
from packager.targets.pipelines import PipelineView
from packager.targets.tuning import TunedOptionsView
from packager.targets.typescript.typed_view import ImportView, TypedView


@dataclass(frozen=True, kw_only=True)
class OptionView:
    key: str
    value: str


@dataclass(frozen=True, kw_only=True)
class ProviderView:
    name: str
    """`coreml`"""
    registered_name: str
    """ONNX Runtime's name: `CoreML`"""
    execution_provider: str
    """ONNX Runtime's name for it in a session: `CoreMLExecutionProvider`"""
    hides_nodes: bool
    """whether ONNX Runtime does not record the nodes that it lays out anew for it"""
    options: tuple[OptionView, ...]


@dataclass(frozen=True, kw_only=True)
class PlatformProvidersView:
    """Providers of the models on one platform."""

    name: str
    """`android`, `ios`, `web` or `node`"""
    title: str
    """the platform in words: `iOS`"""
    runtime_version: str
    """version of the package's ONNX Runtime on the platform; empty if unknown"""
    oldest_runtime: str
    """oldest version that an app may bring instead; empty if only `runtime_version` will do"""
    providers: tuple[ProviderView, ...]
    """in the order in which they are tried, without the CPU"""
    offered: tuple[ProviderView, ...] = ()
    """those that are tried only where the app asks for them"""


@dataclass(frozen=True, kw_only=True)
class TensorView:
    identifier: str
    tensor: str
    element: str
    """name in the ONNX specification: `float`"""
    type: str
    """name in JavaScript: `float32`"""
    array: str
    """array of the values: `Float32Array`, or `string[]`"""
    shape: str
    """for documentation, with the names of dimensions"""
    sizes: tuple[str, ...]
    """literals: a number, or `null` for an open size"""
    shape_type: str
    """`readonly [number, 3, 224, 224]`"""
    is_inferable: bool
    """whether its shape follows from the number of values: at most one size is open, and then none is 0"""
    is_pinned: bool
    """whether its size is known before a run, and its values have a fixed size"""


@dataclass(frozen=True, kw_only=True)
class FlatFile:
    """A file of models to put into the package. Names are unique: phones and browsers use a single folder."""

    path: str
    """file name: `orientation.ort`"""
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
    path: str
    sha256: str
    ends_sha256: str
    """sha256 of its first and last blocks"""
    size_bytes: int


@dataclass(frozen=True, kw_only=True)
class FileView:
    """A file of a model, and the providers that open it."""

    path: str
    sha256: str
    ends_sha256: str
    """sha256 of its first and last blocks"""
    size_bytes: int
    providers: tuple[str, ...]
    """`xnnpack`, `cpu`"""
    nodes: Mapping[str, int]
    """provider -> number of nodes with MACs that it takes, where rules tell"""
    chips: tuple[str, ...]
    """allowed values of Android's Build.SOC_MODEL, or identifiers of Apple's devices; empty for any"""
    variant: str
    """variant that these chips open in the place of the package's; empty for a file of that"""
    settings: tuple[OptionView, ...]
    """session configuration entries"""
    weights: tuple[WeightsView, ...]
    """weights files of an ONNX file; another provider's ORT file may be among them"""
    is_float16: bool
    """whether it computes with 16-bit floats"""


@dataclass(frozen=True, kw_only=True)
class PlatformView:
    """The files of a model on one platform."""

    name: str
    files: tuple[FileView, ...]
    """in the order in which they are tried"""


@dataclass(frozen=True, kw_only=True)
class FileListView:
    """A constant with files of a model."""

    name: str
    files: tuple[FileView, ...]


@dataclass(frozen=True, kw_only=True)
class GoldenView:
    """A file of golden vectors."""

    file: FlatFile
    files: tuple[TestedFileView, ...]
    samples: tuple[GoldenSampleView, ...]


@dataclass(frozen=True, kw_only=True)
class TunedChipView:
    chip: str
    providers: tuple[str, ...]
    """the CPU alone where no other is tried; empty where the package's own order holds"""
    threads: int
    options: tuple[TunedOptionsView, ...]


@dataclass(frozen=True, kw_only=True)
class TunedPlatformView:
    """Measurements of a model on a platform."""

    name: str
    chips: tuple[TunedChipView, ...]


@dataclass(frozen=True, kw_only=True)
class ModelView:
    """The module of one model."""

    class_name: str
    name: str
    file: str
    """module's file name, without its suffix: `orientation`"""
    hook: str
    """`useOrientation`"""
    has_hook: bool
    """whether the hook is in the model's own module"""
    has_urls: bool
    """whether files have addresses on a page"""
    source: str
    """name of the user's model file"""
    source_sha256: str
    version: str
    inputs: tuple[TensorView, ...]
    outputs: tuple[TensorView, ...]
    platforms: tuple[PlatformView, ...]
    file_lists: tuple[FileListView, ...]
    """one for all platforms, or where they differ one for each"""
    golden: tuple[GoldenView, ...]
    """empty for a model without a self-test"""
    samples: str
    """description of the self-test's samples"""
    typed: TypedView | None
    """method of a model with a contract"""
    is_signed: bool
    """whether only signed files are opened"""
    is_updated: bool
    """whether a channel delivers newer files"""
    tuned: tuple[TunedPlatformView, ...]
    """settings by chip; empty for a package without any, and on pages"""
    variants: tuple[str, ...]
    """paths of the files of variants that only some chips open"""
    example: tuple[str, ...]
    """lines of TypeScript that load the model and run it, for the documentation"""


@dataclass(frozen=True, kw_only=True)
class PipelineFileView:
    """The module of one pipeline."""

    npm_name: str
    file: str
    """module's file name, without its suffix"""
    pipeline: PipelineView
    models: tuple[ImportView, ...]
    """from `models/`"""
    typed: tuple[ImportView, ...]
    """from `runtime/typed/`"""
    has_limits: bool
    """whether a stage has a smallest score"""


@dataclass(frozen=True, kw_only=True)
class License:
    name: str
    file: Path


@dataclass(frozen=True, kw_only=True)
class PlacedFile:
    """A file of models, and its folder in the package: `both`, or the platform that opens it."""

    folder: str
    content: FlatFile
