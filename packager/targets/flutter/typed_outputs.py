"""Views of a contract's results for Dart: types, expressions, labels."""

import math
from collections.abc import Mapping
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
from packager.targets.flutter.storage import STORAGE
from packager.targets.flutter.view import LabelsView


@dataclass(frozen=True, kw_only=True)
class Shown:
    """An output as apps get it."""

    type: str
    value: str
    """expression over `outputs`"""
    about: str
    module: str = "results"
    """file of the runtime; empty if none is needed"""


def shown(output: TypedOutput, outputs: Mapping[str, str], texts: Mapping[str, str], *, top: str) -> Shown:
    """The view of `output`.

    `outputs` has the members of the model's outputs, by identifier; `texts` the parameters with texts, by name of their
    tensor; `top` is the expression of the number of classes.
    """
    names = _labels_name(output)
    match output:
        case ClassesOutput():
            scores = _tensors(outputs, output.scores.identifier)
            return Shown(
                type="List<Classification>",
                value=f"classified({scores}, {names}, {top}, {_number(output.threshold)})",
                about="The best classes, best first; classes below the threshold of the model are left out.",
            )
        case BoxesOutput():
            tensors = _tensors(outputs, output.boxes.identifier, output.scores.identifier, output.classes.identifier)
            return Shown(
                type="List<Detection>",
                value=f"detected({tensors}, {names})",
                about="The objects in a picture and where they are, best first.",
            )
        case MaskOutput():
            tensors = _tensors(outputs, output.classes.identifier, output.scores.identifier)
            return Shown(type="Mask", value=f"segmented({tensors}, {names})", about="The class at each place.")
        case EmbeddingOutput():
            return Shown(
                type="Float32List",
                value=f"{_tensors(outputs, output.vector.identifier)}.data",
                about="A vector of length 1: those of what is alike are near each other.",
                module="",
            )
        case TensorOutput():
            return Shown(
                type=f"Tensor<{STORAGE[output.spec.element].data}>",
                value=_tensors(outputs, output.spec.identifier),
                about="A tensor, as the model has it.",
                module="",
            )
        case TextOutput() | SpansOutput() | PairsOutput() | GeneratedOutput():
            return _shown_text(output, outputs, texts, names)


def _shown_text(
    output: TextOutput | SpansOutput | PairsOutput | GeneratedOutput,
    outputs: Mapping[str, str],
    texts: Mapping[str, str],
    names: str,
) -> Shown:
    """The view of a text, or of what a text says."""
    match output:
        case TextOutput():
            tensors = _tensors(outputs, output.symbols.identifier, output.scores.identifier)
            return Shown(type="Reading", value=f"spelled({tensors}, {names})", about="The text that the model reads.")
        case SpansOutput():
            parts = (output.classes, output.starts, output.ends, output.scores)
            tensors = _tensors(outputs, *(each.identifier for each in parts))
            return Shown(
                type="List<Entity>",
                value=f"entitiesOf({tensors}, {texts[output.text.name]}, {names})",
                about="The named parts of the text, in its order.",
                module="entities",
            )
        case PairsOutput():
            return Shown(
                type="double",
                value=f"scoreOf({_tensors(outputs, output.score.identifier)})",
                about="How well the document fits the query.",
                module="ranking",
            )
        case GeneratedOutput():
            return Shown(
                type="String",
                value=f"textOf({_tensors(outputs, output.code_points.identifier)}.data)",
                about="Goes on with a text: gives what follows, part by part, as the model makes it.",
                module="generation",
            )


def _tensors(outputs: Mapping[str, str], *identifiers: str) -> str:
    return ", ".join(f"outputs.{outputs[each]}" for each in identifiers)


def _labels_name(output: TypedOutput) -> str:
    return f"_{output.identifier}Labels"


def labels(output: TypedOutput) -> LabelsView | None:
    """Labels of classes, or the symbols of an alphabet; None if the output has neither."""
    match output:
        case ClassesOutput() | BoxesOutput() | MaskOutput() | SpansOutput():
            return LabelsView(name=_labels_name(output), texts=output.labels)
        case TextOutput():
            return LabelsView(name=_labels_name(output), texts=output.alphabet)
    return None


def _number(value: float) -> str:
    """A number in Dart syntax; the least one takes in every score but NaN."""
    if value <= LOWEST or not math.isfinite(value):
        return "double.negativeInfinity"
    return repr(float(value))
