"""Views of the templates of C++ packages: all decisions are made here; templates only lay out the values."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from packager.core.chat import ChatTemplate
from packager.core.contract import Streamed
from packager.core.values import Package
from packager.targets.golden import GoldenSampleView, ToleranceView
from packager.targets.pipelines import PipelineView


@dataclass(frozen=True, kw_only=True)
class TensorView:
    name: str
    """its name in the model"""
    identifier: str
    type: str
    """of its elements: `float`, `std::int64_t`"""
    element: str
    """member of ElementType: `float32`"""
    about: str
    """`float [1, 3, 224, 224]`"""
    shape: str
    """sizes between commas, -1 for an open one"""


@dataclass(frozen=True, kw_only=True)
class ParameterView:
    name: str
    type: str
    feed: str
    """call of `Inputs` that makes its tensors"""
    is_text: bool

    @property
    def taken(self) -> str:
        return f"{self.type} {self.name}"


@dataclass(frozen=True, kw_only=True)
class StateView:
    input: int
    """place among the inputs"""
    output: int
    """place among the outputs"""
    shape: str
    """sizes in the first run, between commas"""


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
    points: int
    """place of the output with the code points of a part"""
    finished: int
    """place of the output that says whether the part is the last one"""
    seed: str
    """call of `Inputs` that makes the seed; empty without one"""
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
    top: str
    """default number of results; empty where apps cannot choose it"""
    result: str
    """type"""
    value: str
    """expression over `outputs`"""
    results: tuple[ResultView, ...]
    """fields of the result of a model with several outputs"""
    states: tuple[StateView, ...]
    labels: tuple[LabelsView, ...]
    generation: GenerationView | None
    lists: ListsView | None
    ranks: bool
    streamed: Streamed | None
    place: int
    """place of the input with the part of a stream; 0 without streams"""


@dataclass(frozen=True, kw_only=True)
class ModelView:
    """The header and the source of one model."""

    cpp_namespace: str
    class_name: str
    name: str
    file_name: str
    """of the header and the source, without suffix"""
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
    samples: tuple[GoldenSampleView, ...]
    method: MethodView | None
    example: tuple[str, ...]
    """lines that load the model and run it"""


@dataclass(frozen=True, kw_only=True)
class PipelineFileView:
    """The header and the source of one pipeline."""

    cpp_namespace: str
    file_name: str
    """of the header and the source, without suffix"""
    headers: tuple[str, ...]
    """those of its models, without suffix"""
    pipeline: PipelineView


@dataclass(frozen=True, kw_only=True)
class NamesView:
    """Names and values of a package, for all files but those of single models and pipelines."""

    name: str
    cpp_namespace: str
    """of the code; also the name of the package for CMake, and of its folders"""
    macro: str
    """beginning of its macros"""
    version: str
    number: str
    """its version without what follows a hyphen, for CMake"""
    summary: str
    runtime_version: str
    models: tuple[ModelView, ...]
    pipelines: tuple[PipelineFileView, ...]
    shared: tuple[str, ...]
    """names of sources that all models share, without suffix"""
    licenses: tuple[str, ...]
    """names of licence files"""
    roles: Mapping[str, str]
    """of messages -> their letters in keys of chat templates"""
    blanks: tuple[int, ...]
    """code points that chat templates strip"""
    chat_start: str
    chat_end: str
    out_of_order: str
    """words for roles that a chat template does not take"""


@dataclass(frozen=True, kw_only=True)
class CppView:
    """View of a whole package."""

    package: Package
    names: NamesView
    files: Mapping[PurePosixPath, Path]
    """files of models by path below the folder of models"""
    licenses: Mapping[str, Path]
    """licence files of models by name"""
