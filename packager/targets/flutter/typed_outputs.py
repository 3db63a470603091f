"""Spells a contract's results in Dart: types, expressions, labels."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from packager.core.contract import LOWEST, TypedOutput
from packager.core.described import Plain
from packager.targets.flutter.storage import STORAGE
from packager.targets.flutter.view import LabelsView

PLAIN = {Plain.NUMBER: "double", Plain.NUMBERS: "Float32List", Plain.TEXTS: "String"}


@dataclass(frozen=True, kw_only=True)
class Shown:
    """An output as apps get it."""

    type: str
    value: str
    """expression over `outputs`"""


def shown(output: TypedOutput, outputs: Mapping[str, str], texts: Mapping[str, str], *, top: str) -> Shown:
    """The view of `output`.

    `outputs` has the members of the model's outputs, by identifier; `texts` the parameters with texts, by name of their
    tensor; `top` is the expression of the number of classes, empty for that of the contract.
    """
    described = output.DESCRIBED
    specs = [getattr(output, each) for each in described.tensors]
    tensors = [f"outputs.{outputs[each.identifier]}" for each in specs]
    if described.type is Plain.TENSOR:
        return Shown(type=f"Tensor<{STORAGE[specs[0].element].data}>", value=tensors[0])
    made = PLAIN[described.type] if isinstance(described.type, Plain) else described.type
    if not described.function:
        return Shown(type=made, value=f"{tensors[0]}.data")
    text = [texts[getattr(output, described.text).name]] if described.text else []
    lines = [_lines_name(output, each) for each in described.lines]
    numbers = [str(getattr(output, each)) for each in described.numbers]
    most, least = [getattr(output, each) for each in described.limits] or (0, 0.0)
    limits = [top or str(most), _number(least)] if described.limits else []
    return Shown(
        type=f"List<{made}>" if described.is_list else made,
        value=f"{described.function}({', '.join([*tensors, *text, *lines, *numbers, *limits])})",
    )


def _lines_name(output: TypedOutput, field: str) -> str:
    return f"_{output.identifier}{field.capitalize()}"


def labels(output: TypedOutput) -> tuple[LabelsView, ...]:
    """Labels, symbols of an alphabet, units."""
    return tuple(
        LabelsView(name=_lines_name(output, each), texts=getattr(output, each)) for each in output.DESCRIBED.lines
    )


def _number(value: float) -> str:
    """A number in Dart syntax; the least one takes in every score but NaN."""
    if value <= LOWEST or not math.isfinite(value):
        return "double.negativeInfinity"
    return repr(float(value))
