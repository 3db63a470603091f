"""Views of a contract for the TypeScript templates: the method and its parts."""

from dataclasses import dataclass

from packager.core.chat import ChatTemplate
from packager.core.contract import Streamed


@dataclass(frozen=True, kw_only=True)
class ImportView:
    """Imports of a model's file from a file of `runtime/typed/`."""

    module: str
    values: tuple[str, ...]
    types: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class PassedView:
    """A parameter."""

    name: str
    type: str


@dataclass(frozen=True, kw_only=True)
class MadeView:
    """A value made from an argument."""

    name: str
    """variable: `imageTensors`"""
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
    """An input that receives state."""

    key: str
    array: str
    """`Float32Array`"""
    count: int
    """number of its values in the first call"""
    output: str
    """key of the output that becomes the next input"""
    shape: tuple[int, ...]
    """in the first call"""
    next_shape: tuple[str, ...]
    """expressions over `outputs`, for a state whose size differs from call to call; else empty"""


@dataclass(frozen=True, kw_only=True)
class GenerationView:
    """The parts that a model that generates a text needs besides its method."""

    given: tuple[str, ...]
    """arguments of each run, over `isFirst`"""
    finished: str
    """key of the output that is 1 after the last run"""
    seed: str
    """key of the input for the seed of random choices; empty if there are none"""
    chat: ChatTemplate | None


@dataclass(frozen=True, kw_only=True)
class LabelsView:
    """Labels, symbols of an alphabet, or units."""

    name: str
    """constant: `logitsLabels`"""
    lines: tuple[tuple[str, ...], ...]
    """as many per line as fit"""


@dataclass(frozen=True, kw_only=True)
class PredictedView:
    """One of several results."""

    identifier: str
    about: str
    """description"""
    type: str
    value: str
    """expression over `outputs`"""


@dataclass(frozen=True, kw_only=True)
class ListsView:
    """The parts that a model that takes several texts in a run needs besides its method."""

    parameters: str
    """`texts: readonly string[], `: lists of the parameters"""
    is_pair: bool
    """whether a run takes two lists"""
    item: str
    """type of a result in a list: `(readonly Classification[])`, `number`"""
    results: str
    """type of the result of either"""
    sync_one: str
    """declared parameters of the synchronous method for one text"""
    sync_several: str
    """the same for lists"""


@dataclass(frozen=True, kw_only=True)
class TypedView:
    """The method of a model with a contract."""

    verb: str
    """`classify`"""
    about: str
    """description of the action"""
    example: tuple[str, ...]
    """lines that call it and show the result"""
    takes: str
    """parameters as text, for a table: `image: Picture`"""
    parameters: str
    """`image: Picture, `: empty, or with a trailing comma"""
    arguments: str
    """`image`"""
    passed: tuple[PassedView, ...]
    """parameters of the implementation: texts, or lists of them, where the model takes several"""
    frame: str
    """type of a frame: `Picture`, or a tuple of several parameters"""
    frame_arguments: str
    """`frame`, or `...frame` of a tuple"""
    refused: str
    """inputs that are validated besides tensors, as text: `a picture`; empty if none"""
    options: str
    """type of the last parameter"""
    sync_options: str
    """options type of the synchronous method; empty if it has none"""
    top: str
    """number of classes; empty for other results"""
    kept: tuple[str, ...]
    """texts of which the results have parts: names of parameters"""
    ranks: bool
    """whether a method ranks several documents by one query"""
    result: str
    """type of the result"""
    given: str
    """type of the tensors made from the arguments"""
    made: tuple[MadeView, ...]
    fed: tuple[FedView, ...]
    value: str
    """expression over `outputs`; empty for several results"""
    predicted: tuple[PredictedView, ...]
    """the several results; empty for one"""
    states: tuple[StateView, ...]
    state_keys: str
    """type: `'state'`; empty without state"""
    labels: tuple[LabelsView, ...]
    imports: tuple[ImportView, ...]
    lists: ListsView | None
    """None for a model that takes one text in a run, or none"""
    generation: GenerationView | None
    """None for a model that gives everything at once"""
    streamed: Streamed | None
    """None for a model without streams"""


@dataclass(frozen=True, kw_only=True)
class ExportView:
    """A file of `runtime/typed/` and its types and other things that apps use."""

    module: str
    types: tuple[str, ...]
    values: tuple[str, ...]
