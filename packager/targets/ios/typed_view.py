"""Views of a model's contract for the Swift templates."""

from collections.abc import Mapping
from dataclasses import dataclass

from packager.core.chat import ChatTemplate
from packager.core.contract import Streamed


@dataclass(frozen=True, kw_only=True)
class ParameterView:
    """Documentation of a parameter."""

    identifier: str
    words: str


@dataclass(frozen=True, kw_only=True)
class StateView:
    """A state that the class keeps from one call to the next."""

    identifier: str
    type: str
    """type of one value"""
    sizes: tuple[str, ...]
    """in the first call"""
    zero: str
    output: str
    """property of Output with the next state"""
    is_open: bool
    """whether its size differs from call to call"""
    shape: str
    """property with the shape of an open one"""
    output_shape: str
    """property of Output with the next shape"""


@dataclass(frozen=True, kw_only=True)
class GenerationView:
    """The parts that a model that generates a text needs besides its method."""

    finished: str
    """property of Output that is 1 after the last run"""
    passed: str
    """arguments of each run, with a trailing comma"""
    returned: Mapping[str, str]
    """property of Output -> the state that keeps the value of ONNX Runtime"""
    chat: ChatTemplate | None


@dataclass(frozen=True, kw_only=True)
class ResultView:
    """A property of Prediction."""

    identifier: str
    type: str
    words: str
    value: str
    """Swift expression"""
    shape: str
    """Swift expression for a tensor's shape; empty for other results"""
    shape_identifier: str


@dataclass(frozen=True, kw_only=True)
class LabelsView:
    """Labels, symbols of an alphabet, or units."""

    identifier: str
    words: str
    lines: tuple[str, ...]
    """contents of the literal: each line ends with a label, and may hold several"""


@dataclass(frozen=True, kw_only=True)
class LocalsView:
    """Local names of a function that do not clash with parameters."""

    output: str
    tensors: str
    cancellation: str
    carried: str
    answer: str
    parts: str
    first: str
    results: str
    kept: str


@dataclass(frozen=True, kw_only=True)
class StreamedView:
    """The parts that a model with streams needs besides its method."""

    form: Streamed
    passed: str
    """arguments of a run, over `sound`"""


@dataclass(frozen=True, kw_only=True)
class ListsView:
    """The parts that a model that takes several texts in a run needs besides its method."""

    declared: tuple[str, ...]
    """parameters of the public methods"""
    received: tuple[str, ...]
    """parameters of the private method"""
    passed: str
    """arguments that the public methods pass to it, with a trailing comma"""
    alone: str
    """the same of one text"""
    names: tuple[str, ...]
    """of the lists"""
    inside: tuple[str, ...]
    """of the same lists in the private method"""
    count: str
    """local name: number of results"""
    row: str
    """local name: number of a result"""
    item: str
    """Swift type of a list of results"""


@dataclass(frozen=True, kw_only=True)
class HeadsView:
    """Declarations of methods, up to the body."""

    method: tuple[str, ...]
    """lines of Swift: declares the method that waits"""
    waited: tuple[str, ...]
    """the same of the one that is awaited"""
    streaming: tuple[str, ...]
    """the same of one that gives a stream"""
    answering: tuple[str, ...]
    """the same of the private method behind these"""
    stepping: tuple[str, ...]
    """the same of the private method that runs the model for a part of a text"""


@dataclass(frozen=True, kw_only=True)
class TypedView:
    """The typed method of a model."""

    verb: str
    summary: str
    documented: tuple[ParameterView, ...]
    heads: HeadsView
    pictures: tuple[str, ...]
    """parameters that are made pictures"""
    takes_picture_alone: bool
    passed: str
    """arguments that the public methods pass to the private one, with a trailing comma"""
    given: str
    """the same where pictures are made"""
    result: str
    """Swift type"""
    answer: tuple[str, ...]
    """lines of a Swift expression"""
    locals: LocalsView
    fed: tuple[str, ...]
    """lines of Swift: the tensors that a call passes to ONNX Runtime"""
    states: tuple[StateView, ...]
    results: tuple[ResultView, ...]
    predicting: tuple[str, ...]
    """lines of Swift: declares the initializer of a Prediction"""
    is_prediction: bool
    """whether the results are properties of a struct"""
    labels: tuple[LabelsView, ...]
    ranks: bool
    """whether a method ranks several documents by one query"""
    more_declared: str
    """parameters beside what the model is given, with a leading comma"""
    more_passed: str
    lists: ListsView | None
    """None for a model that takes one text in a run, or none"""
    generation: GenerationView | None
    """None for a model that gives everything at once"""
    streamed: StreamedView | None
    """None for a model without streams"""
