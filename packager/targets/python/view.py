"""Views of the templates of wheels: all decisions are made here; templates only lay out the values."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from packager.core.chat import ChatTemplate
from packager.core.contract import Streamed
from packager.core.values import Package
from packager.targets.golden import ToleranceView
from packager.targets.pipelines import PipelineView


@dataclass(frozen=True, kw_only=True)
class TensorView:
    name: str
    """its name in the model"""
    identifier: str
    type: str
    """`NDArray[numpy.float32]`"""
    dtype: str
    """NumPy's name: `float32`; `str` for texts"""
    about: str
    """`float [1, 3, 224, 224]`"""
    sizes: tuple[str, ...]
    """literals: a number, or `None` for an open size"""


@dataclass(frozen=True, kw_only=True)
class ParameterView:
    name: str
    type: str
    made: str
    """name of its tensors; empty for a tensor that is passed on"""
    maker: str
    """expression of these"""
    is_text: bool

    @property
    def taken(self) -> str:
        return f"{self.name}: {self.type}"


@dataclass(frozen=True, kw_only=True)
class FedView:
    """An input of the model, and the expression that feeds it."""

    name: str
    value: str


@dataclass(frozen=True, kw_only=True)
class StateView:
    input: str
    output: str
    first: str
    """expression of its value in the first run"""


@dataclass(frozen=True, kw_only=True)
class ResultView:
    name: str
    about: str
    type: str
    value: str


@dataclass(frozen=True, kw_only=True)
class LabelsView:
    name: str
    """constant"""
    texts: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class GenerationView:
    points: str
    """output with the code points of a part"""
    finished: str
    """output that says whether the part is the last one"""
    has_seed: bool
    chat: ChatTemplate | None


@dataclass(frozen=True, kw_only=True)
class ListsView:
    """The method that takes several texts."""

    verb: str
    parameters: tuple[ParameterView, ...]


@dataclass(frozen=True, kw_only=True)
class MethodView:
    verb: str
    about: str
    parameters: tuple[ParameterView, ...]
    fed: tuple[FedView, ...]
    top: str
    """default number of results; empty where apps cannot choose it"""
    result: str
    """type"""
    value: str
    """expression over `outputs`"""
    results: tuple[ResultView, ...]
    """fields of the result of a model with several outputs"""
    texts: tuple[str, ...]
    """parameters that these need, too"""
    states: tuple[StateView, ...]
    labels: tuple[LabelsView, ...]
    generation: GenerationView | None
    lists: ListsView | None
    ranks: bool
    streamed: Streamed | None


@dataclass(frozen=True, kw_only=True)
class ModelView:
    """The module of one model."""

    class_name: str
    name: str
    module: str
    source: str
    """name of the user's model file"""
    source_sha256: str
    package: str
    version: str
    file: str
    sha256: Mapping[str, str]
    """by file in the model's folder"""
    settings: Mapping[str, str]
    runtime_version: str
    inputs: tuple[TensorView, ...]
    outputs: tuple[TensorView, ...]
    golden: str
    """name of the file with samples; empty without any"""
    tolerances: tuple[ToleranceView, ...]
    method: MethodView | None
    imports: tuple[str, ...]
    example: tuple[str, ...]
    """lines that load the model and run it"""


@dataclass(frozen=True, kw_only=True)
class PipelinePage:
    """The module of one pipeline."""

    pipeline: PipelineView
    """names of stages are those of attributes"""
    module: str
    results: tuple[str, ...]
    """types of the runtime that it returns"""
    models: tuple[tuple[str, str], ...]
    """module and class of each model"""


@dataclass(frozen=True, kw_only=True)
class NamesView:
    """Names and values of a wheel, for all files but those of single models and pipelines."""

    distribution: str
    """name on PyPI"""
    version: str
    """as PEP 440 writes it"""
    summary: str
    license: str
    urls: Mapping[str, str]
    """label -> address"""
    runtime: str
    """requirement of ONNX Runtime"""
    models: tuple[ModelView, ...]
    pipelines: tuple[PipelinePage, ...]
    results: tuple[str, ...]
    """types that methods return"""
    exported: tuple[str, ...]
    """names that apps import"""
    licenses: tuple[str, ...]
    """names of licence files"""


@dataclass(frozen=True, kw_only=True)
class PythonView:
    """View of a whole wheel."""

    package: Package
    names: NamesView
    module: str
    """name that apps import"""
    info: str
    """name of the folder with metadata"""
    files: Mapping[PurePosixPath, Path]
    """files of models by path below the module"""
    licenses: Mapping[str, Path]
    """licence files of models by name"""
