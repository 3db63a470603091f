"""Types of `api.json`; docs/api.schema.json is generated from them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from packager.core.names import kebab_case
from packager.core.signature import TensorSpec


@dataclass(frozen=True, kw_only=True)
class MethodParameter:
    """A value that apps pass to the method of a model."""

    name: str
    kind: str
    """`image`, `audio`, `text` or `tensor`; a tensor is the one of `inputs` with that identifier"""
    is_batch: bool = False
    """whether apps may pass several texts at once"""


@dataclass(frozen=True, kw_only=True)
class MethodResult:
    """A value that the method returns."""

    name: str
    kind: str
    """kind of output in mobpack.toml: `classes`, `boxes` ..."""
    type: str
    """type of the package, such as `Classification`; else `number`, `numbers`, `texts` or `tensor`"""
    is_list: bool = False
    tensors: tuple[str, ...]
    """names of the tensors that it is made of"""
    labels: tuple[str, ...] = ()
    """in the order of the model's numbers; empty if the project names none"""
    alphabet: tuple[str, ...] = ()
    """symbols of a text, in the same order"""
    units: tuple[str, ...] = ()
    """of the numbers that `labels` name"""
    rate: int | None = None
    """frames per second of a sound; null for other kinds"""
    channels: int | None = None
    """of a sound"""
    top_k: int | None = None
    """default number of results; null where apps cannot choose it"""
    threshold: float | None = None
    """smallest score of a result; null for none"""


@dataclass(frozen=True, kw_only=True)
class ModelApi:
    """A class of the package."""

    name: str
    """name of the model in mobpack.toml"""
    class_name: str
    method: str = ""
    """method that takes `parameters` and returns `results`; empty for a model with tensors alone"""
    parameters: tuple[MethodParameter, ...] = ()
    results: tuple[MethodResult, ...] = ()
    """several are the fields of one result"""
    options: tuple[str, ...] = ()
    """optional parameters of the method besides its parameters: `top`, `seed`"""
    has_chat: bool = False
    """whether the class has `chat`, which takes a conversation"""
    stream_hop: int | None = None
    """samples of the model for which `stream` has a result each; null for a model without that method"""
    states: tuple[str, ...] = ()
    """values that the class carries from one run to the next"""
    has_self_test: bool = False
    """whether inputs with expected outputs are in the package"""
    inputs: tuple[TensorSpec, ...]
    """tensors that `run` takes"""
    outputs: tuple[TensorSpec, ...]
    """tensors that `run` returns"""


@dataclass(frozen=True, kw_only=True)
class StageApi:
    """A model of a pipeline: a property of its class, and a field of its items."""

    name: str
    model: str
    """name of the model in mobpack.toml"""
    min_score: float | None = None
    """smallest score of a box that it runs on: the field may be empty; null for all boxes"""


@dataclass(frozen=True, kw_only=True)
class PipelineApi:
    """A class that runs models of the package one after the other on a picture."""

    name: str
    """name of the pipeline in mobpack.toml"""
    class_name: str
    item_class_name: str
    """type of the items in the list that the method `run` returns"""
    stages: tuple[StageApi, ...]
    """the first finds boxes in the picture, the others run on the part in each box. The field of an item has for the
    first the box, for the others what the method of the model returns"""
    max_items: int
    """largest number of boxes"""


@dataclass(frozen=True, kw_only=True)
class PackageApi:
    """The public API of a package."""

    __pydantic_config__: ClassVar[Mapping[str, object]] = {
        "alias_generator": kebab_case,
    }

    schema_version: Literal[1] = 1
    mobpack: str
    """version of mobpack that made the package"""
    package: str
    version: str
    target: str
    language: str
    revision: tuple[int, int]
    """revision of the API that every package of the target has, whatever its models: apps must change for another first
    number, and may use more with a larger second one"""
    features: tuple[str, ...]
    """keys of [package] in mobpack.toml that add to the API: `channel`, `encryption`, `trust`"""
    providers: tuple[str, ...]
    """providers that open files of the models"""
    models: tuple[ModelApi, ...]
    """by name"""
    pipelines: tuple[PipelineApi, ...] = ()
    """by name"""
