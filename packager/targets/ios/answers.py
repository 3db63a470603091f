"""Views of a contract's results for Swift: an expression per result, and the labels."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from packager.core import names
from packager.core.contract import (
    BoxesOutput,
    ClassesOutput,
    EmbeddingOutput,
    GeneratedOutput,
    MaskOutput,
    PairsOutput,
    SpansOutput,
    TensorOutput,
    TextOutput,
    TypedOutput,
)
from packager.core.errors import ModelError
from packager.core.values import TensorSpec
from packager.render import swift_doc, swift_string
from packager.targets.ios.typed_view import LabelsView, ResultView
from packager.targets.ios.view import OutputView

PACKED = 96
"""characters of labels per line of a literal; a longer label has its own line"""

LARGEST = 3.4028234663852886e38
"""largest 32-bit float"""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The tensors of a run, as Swift expressions."""

    tensors: Mapping[str, OutputView]
    """by name in the graph"""
    pinned: frozenset[str]
    """outputs without a shape property"""
    texts: Mapping[str, str]
    """parameters with texts, by name of their tensor"""
    variable: str
    row: str = ""
    """takes the values of one text of several out of a tensor; empty if there is one text"""

    def values(self, spec: TensorSpec) -> str:
        return f"{self.variable}.{self.tensors[spec.name].identifier}{self.row}"

    def shape(self, spec: TensorSpec) -> str:
        view = self.tensors[spec.name]
        known = f"[{', '.join(view.sizes)}]"
        if spec.name in self.pinned:
            return known
        return f"{self.variable}.{view.shape_identifier}{'.rowShape' if self.row else ''}"


def results(outputs: tuple[TypedOutput, ...], outcome: Outcome, *, top: str) -> tuple[ResultView, ...]:
    """Results of a run; `top` is the parameter for the number of classes, empty if there is none."""
    taken = [output.identifier for output in outputs]
    shapes = names.identifiers([f"{each}-shape" for each in taken], prefix="output", taken=taken)
    return tuple(_result(output, shape, outcome, top) for output, shape in zip(outputs, shapes, strict=True))


def _result(output: TypedOutput, shape_identifier: str, outcome: Outcome, top: str) -> ResultView:
    made_type, words, value = _made(output, outcome, top)
    return ResultView(
        identifier=output.identifier,
        type=made_type,
        words=words,
        value=value,
        shape=outcome.shape(output.spec) if isinstance(output, TensorOutput) else "",
        shape_identifier=shape_identifier,
    )


def _made(output: TypedOutput, outcome: Outcome, top: str) -> tuple[str, str, str]:
    """Swift type, description for the documentation, and Swift expression."""
    match output:
        case ClassesOutput():
            scores, labels = outcome.values(output.scores), _labels(output)
            options = f"top: {top or output.top_k}, threshold: {_float(output.threshold)}"
            made = f"Classification.best({scores}, {labels}, {options})"
            return "[Classification]", "Which classes the model sees, best first.", made
        case BoxesOutput():
            found = ", ".join(map(outcome.values, (output.boxes, output.scores, output.classes)))
            made = f"Detection.found({found}, {_labels(output)})"
            return "[Detection]", "What the model found, best first.", made
        case MaskOutput():
            places = f"{outcome.values(output.classes)}, {outcome.values(output.scores)}"
            made = f"Mask({places}, {outcome.shape(output.classes)}, {_labels(output)})"
            return "Mask", "What the model sees at each place.", made
        case TextOutput():
            symbols = f"{outcome.values(output.symbols)}, {outcome.values(output.scores)}"
            return "Reading", "What the model read.", f"Reading({symbols}, {_labels(output)})"
        case GeneratedOutput():
            words = "The text that the model makes, in parts."
            return (
                "AsyncThrowingStream<String, any Error>",
                words,
                f"String(points: {outcome.values(output.code_points)})",
            )
        case EmbeddingOutput():
            return "[Float]", "A point in a space where near means alike.", outcome.values(output.vector)
        case SpansOutput():
            places = ", ".join(map(outcome.values, (output.classes, output.starts, output.ends, output.scores)))
            made = f"Entity.found({places}, in: {outcome.texts[output.text.name]}, {_labels(output)})"
            return "[Entity]", "The named parts of the text, in its order.", made
        case PairsOutput():
            return "Float", "How well the document fits the query.", f"{outcome.values(output.score)}[0]"
        case TensorOutput():
            view = outcome.tensors[output.spec.name]
            words = f"`{swift_doc(view.tensor)}`: {view.element} `{swift_doc(view.shape)}`."
            return f"[{view.swift_type}]", words, outcome.values(output.spec)


def _float(number: float) -> str:
    """Swift literal of type Float, limited to its range."""
    return repr(min(max(number, -LARGEST), LARGEST))


def _texts(output: TypedOutput) -> tuple[str, ...]:
    match output:
        case ClassesOutput() | BoxesOutput() | MaskOutput() | SpansOutput():
            return output.labels
        case TextOutput():
            return output.alphabet
    return ()


def _name(output: TypedOutput) -> str:
    return f"{output.identifier}{'Alphabet' if isinstance(output, TextOutput) else 'Labels'}"


def _labels(output: TypedOutput) -> str:
    """Swift expression for the labels of an output."""
    return f"Self.{_name(output)}" if any(_texts(output)) else "[]"


def declared_labels(outputs: tuple[TypedOutput, ...]) -> tuple[LabelsView, ...]:
    """Labels that a class declares. Raises ModelError for one with a line break."""
    return tuple(
        LabelsView(
            identifier=_name(output),
            words="Symbols by their numbers."
            if isinstance(output, TextOutput)
            else "Names of classes by their numbers.",
            lines=tuple(packed(_texts(output))),
        )
        for output in outputs
        if any(_texts(output))
    )


def packed(texts: tuple[str, ...]) -> Iterator[str]:
    """Lines of a Swift literal of `texts` separated by line breaks, several per line."""
    line = ""
    for index, text in enumerate(texts):
        if "\n" in text:
            raise ModelError(f"the label {text!r} has a line break", hint="remove the line break")
        word = swift_string(text)[1:-1]
        # An empty line, or a trailing blank, is easily misread in an editor.
        if index and line and word and len(line) + len(word) >= PACKED:
            yield _visible(line)
            line = word
        else:
            line = f"{line}\\n{word}" if index else word
    yield _visible(line)


def _visible(line: str) -> str:
    return f"{line[:-1]}\\u{{20}}" if line.endswith(" ") else line
