"""What the Swift templates print of a model's contract."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class ParameterView:
    """What the documentation says of a parameter."""

    identifier: str
    words: str


@dataclass(frozen=True, kw_only=True)
class FedView:
    """A tensor that a call hands to ONNX Runtime."""

    type: str
    """struct that does it"""
    tensor: str
    arguments: tuple[str, ...]
    """Swift expressions"""


@dataclass(frozen=True, kw_only=True)
class StateView:
    """What the class remembers from one call to the next."""

    identifier: str
    type: str
    """of one value"""
    sizes: tuple[str, ...]
    zero: str
    output: str
    """property of Output with the next one"""


@dataclass(frozen=True, kw_only=True)
class ResultView:
    """A property of Prediction."""

    identifier: str
    type: str
    words: str
    value: str
    """Swift expression"""
    shape: str
    """Swift expression of a tensor's shape; empty for what is no tensor"""
    shape_identifier: str


@dataclass(frozen=True, kw_only=True)
class LabelsView:
    """The names of classes, or the symbols of an alphabet."""

    identifier: str
    words: str
    lines: tuple[str, ...]
    """between the quotes of a literal: each ends with a name, and may hold several"""


@dataclass(frozen=True, kw_only=True)
class LocalsView:
    """Names within a function that no parameter has."""

    output: str
    tensors: str
    cancellation: str
    carried: str
    answer: str


@dataclass(frozen=True, kw_only=True)
class TypedView:
    """The method of a model that takes pictures and sounds, and gives labels and boxes."""

    verb: str
    summary: str
    documented: tuple[ParameterView, ...]
    declared: tuple[str, ...]
    """parameters of the public methods"""
    received: tuple[str, ...]
    """parameters of the private one"""
    passed: str
    """what the public ones pass to it, with a comma behind"""
    is_wide: bool
    """parameters of the public methods stand on lines of their own"""
    is_received_wide: bool
    result: str
    """Swift type"""
    answer: tuple[str, ...]
    """lines of a Swift expression"""
    locals: LocalsView
    fed: tuple[FedView, ...]
    states: tuple[StateView, ...]
    results: tuple[ResultView, ...]
    is_prediction: bool
    """the results are properties of a struct"""
    labels: tuple[LabelsView, ...]
    is_picture_alone: bool
    """a picture is all that an app passes: Apple's own types can stand for it"""
    more_declared: str
    """what else the methods for those types take, with a comma ahead"""
    more_passed: str
