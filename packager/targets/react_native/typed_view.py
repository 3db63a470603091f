"""What the templates of a model with a contract print: its method in TypeScript, and what it is made of."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class ImportView:
    """What a model's file takes from a file of `runtime/typed/`."""

    module: str
    values: tuple[str, ...]
    types: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class MadeView:
    """What is made of an argument."""

    name: str
    """of the variable: `imageTensors`"""
    function: str
    """`pictureTensors`"""
    argument: str


@dataclass(frozen=True, kw_only=True)
class FedView:
    """An input of the model's graph."""

    key: str
    value: str
    """`imageTensors.pixels`"""


@dataclass(frozen=True, kw_only=True)
class StateView:
    """An input that is carried."""

    key: str
    array: str
    """`Float32Array`"""
    count: int
    """of its values"""
    output: str
    """key of what it is in the next call"""


@dataclass(frozen=True, kw_only=True)
class LabelsView:
    """The names of classes, or the symbols of an alphabet."""

    name: str
    """of the constant: `logitsLabels`"""
    lines: tuple[tuple[str, ...], ...]
    """as many to a line as it takes"""


@dataclass(frozen=True, kw_only=True)
class PredictedView:
    """One of several results."""

    identifier: str
    about: str
    """in words"""
    type: str
    value: str
    """an expression, of `outputs`"""


@dataclass(frozen=True, kw_only=True)
class TypedView:
    """The method of a model with a contract."""

    verb: str
    """`classify`"""
    about: str
    """in words: what it does"""
    example: tuple[str, ...]
    """lines that call it and show what it gives"""
    takes: str
    """in words, for a table: `image: Picture`"""
    parameters: str
    """`image: Picture, `: empty, or with a comma behind it"""
    arguments: str
    """`image`"""
    refused: str
    """in words, what is checked beside tensors: `a picture`; empty for nothing"""
    options: str
    """type of the last parameter"""
    sync_options: str
    """of the method that keeps the app waiting; empty when it has none"""
    top: str
    """how many classes it gives; empty when it gives something else"""
    result: str
    """type"""
    given: str
    """type of the tensors that are made of the arguments"""
    made: tuple[MadeView, ...]
    fed: tuple[FedView, ...]
    value: str
    """an expression, of `outputs`; empty for several results"""
    predicted: tuple[PredictedView, ...]
    """the several results; empty for one"""
    states: tuple[StateView, ...]
    state_keys: str
    """type: `'state'`; empty when nothing is carried"""
    labels: tuple[LabelsView, ...]
    imports: tuple[ImportView, ...]


@dataclass(frozen=True, kw_only=True)
class ExportView:
    """A file of `runtime/typed/` and the types of it that apps name."""

    module: str
    types: tuple[str, ...]
