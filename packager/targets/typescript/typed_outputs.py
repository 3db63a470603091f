"""Views of a contract's results for TypeScript: types, expressions, labels."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from packager.core.contract import (
    LOWEST,
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
from packager.core.values import TensorSpec
from packager.render import ts_string
from packager.targets.typescript.typed_view import LabelsView

LINE = 110
"""characters of labels per line, before indentation by two or four"""


@dataclass(frozen=True, kw_only=True)
class Shown:
    """A result in TypeScript."""

    type: str
    value: str
    """expression over `outputs`"""
    about: str
    """description of the action"""
    noun: str
    """description of the result"""
    module: str = ""
    """file of `runtime/typed/`; empty if none is needed"""
    function: str = ""
    type_name: str = ""
    """type to import from the module"""


def shown(output: TypedOutput, class_name: str, *, has_top: bool, texts: Mapping[str, str]) -> Shown:
    """The view of `output`. With `has_top`, the app chooses the number of classes in a variable `top`. `texts` are the
    parameters with texts, by name of their tensor."""
    labels = labels_name(output)
    match output:
        case ClassesOutput():
            top = "top" if has_top else str(output.top_k)
            return Shown(
                type="readonly Classification[]",
                value=f"classified({_data(output.scores)}, {labels}, {top}, {_number(output.threshold)})",
                about=f"Says which classes fit: {_classes_in_words(output, has_top=has_top)}",
                noun=f"Which classes fit: {_classes_in_words(output, has_top=has_top)}",
                module="classes",
                function="classified",
                type_name="Classification",
            )
        case BoxesOutput():
            tensors = ", ".join(map(_data, (output.boxes, output.scores, output.classes)))
            return Shown(
                type="readonly Detection[]",
                value=f"detected({tensors}, {labels})",
                about="Finds what is in a picture, and where: best first.",
                noun="What is in the picture, and where: best first.",
                module="boxes",
                function="detected",
                type_name="Detection",
            )
        case MaskOutput():
            return Shown(
                type="Mask",
                value=f"segmented({_tensor(output.classes)}, {_tensor(output.scores)}, {labels})",
                about="Says what is at each place of a picture.",
                noun="What is at each place of the picture.",
                module="mask",
                function="segmented",
                type_name="Mask",
            )
        case EmbeddingOutput():
            noun = "a vector of length 1: those of what is alike are near each other."
            value = _data(output.vector)
            return Shown(type="Float32Array", value=value, about=f"Gives {noun}", noun=noun.capitalize())
        case TextOutput() | GeneratedOutput() | SpansOutput() | PairsOutput():
            return _shown_text(output, labels, texts)
        case TensorOutput():
            type_ = f"{class_name}Outputs[{ts_string(output.spec.identifier)}]"
            noun = "a tensor, as the model has it."
            value = _tensor(output.spec)
            return Shown(type=type_, value=value, about=f"Gives {noun}", noun=noun.capitalize())


def _shown_text(
    output: TextOutput | GeneratedOutput | SpansOutput | PairsOutput, labels: str, texts: Mapping[str, str]
) -> Shown:
    """The view of a text, or of what a text says."""
    match output:
        case TextOutput():
            return Shown(
                type="Reading",
                value=f"spelled({_data(output.symbols)}, {_data(output.scores)}, {labels})",
                about="Reads a text.",
                noun="A text.",
                module="text",
                function="spelled",
                type_name="Reading",
            )
        case GeneratedOutput():
            return Shown(
                type="GeneratedText",
                value=f"textOf({_data(output.code_points)})",
                about="Goes on with a text.",
                noun="A text, in parts.",
                module="generation",
                function="textOf",
                type_name="GeneratedText",
            )
        case SpansOutput():
            tensors = ", ".join(map(_data, (output.classes, output.starts, output.ends, output.scores)))
            return Shown(
                type="readonly Entity[]",
                value=f"entitiesOf({tensors}, {texts[output.text.name]}, {labels})",
                about="Finds the named parts of a text, in its order.",
                noun="The named parts of the text, in its order.",
                module="entities",
                function="entitiesOf",
                type_name="Entity",
            )
        case PairsOutput():
            return Shown(
                type="number",
                value=f"scoreOf({_data(output.score)})",
                about="Says how well a document fits a query.",
                noun="How well the document fits the query.",
                module="ranking",
                function="scoreOf",
            )


def _classes_in_words(output: ClassesOutput, *, has_top: bool) -> str:
    choice = ", or as many as `top` says" if has_top else ""
    words = f"the {output.top_k} best ones, best first{choice}."
    is_limited = output.threshold > LOWEST and output.threshold != 0
    return f"{words} Those below {_number(output.threshold)} are left out." if is_limited else words


def _tensor(spec: TensorSpec) -> str:
    return f"outputs.{spec.identifier}"


def _data(spec: TensorSpec) -> str:
    return f"{_tensor(spec)}.data"


def _number(value: float) -> str:
    """A number in JavaScript syntax: `0`, `0.25`, `-Infinity`."""
    if not math.isfinite(value):
        return repr(value).replace("inf", "Infinity")
    return str(int(value)) if value == int(value) else repr(value)


def labels_name(output: TypedOutput) -> str:
    """Name of the constant with the labels."""
    return f"{output.identifier}Labels"


def labels(output: TypedOutput) -> LabelsView | None:
    """Labels of classes, or the symbols of an alphabet; None if the output has neither."""
    match output:
        case ClassesOutput() | BoxesOutput() | MaskOutput() | SpansOutput():
            return LabelsView(name=labels_name(output), lines=tuple(_lines(output.labels)))
        case TextOutput():
            return LabelsView(name=labels_name(output), lines=tuple(_lines(output.alphabet)))
    return None


def _lines(texts: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """As many texts per line as fit."""
    line: list[str] = []
    length = 0
    for text in texts:
        width = len(ts_string(text)) + len(", ")
        if line and length + width > LINE:
            yield tuple(line)
            line, length = [], 0
        line.append(text)
        length += width
    if line:
        yield tuple(line)
