"""Spells a contract's results in TypeScript: types, expressions, labels."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from packager.core.contract import TypedOutput
from packager.core.described import Plain
from packager.render.templates import ts_string
from packager.targets.typescript.typed_view import LabelsView

LINE = 110
"""characters of labels per line, before indentation by two or four"""
PLAIN = {Plain.NUMBER: "number", Plain.NUMBERS: "Float32Array", Plain.TEXTS: "GeneratedText"}
NARROWED = {"Sound": "Sound<Float32Array>"}
"""types with a parameter, as results have them"""


@dataclass(frozen=True, kw_only=True)
class Shown:
    """An output as apps get it."""

    type: str
    value: str
    """expression over `outputs`"""


def shown(output: TypedOutput, class_name: str, texts: Mapping[str, str], *, top: str) -> Shown:
    """The view of `output`. `texts` are the parameters with texts, by name of their tensor; `top` is the expression of
    the number of classes, empty for that of the contract."""
    described = output.DESCRIBED
    identifiers = {each: getattr(output, each).identifier for each in described.tensors}
    tensors = [f"outputs.{name}" + ("" if each == described.shape else ".data") for each, name in identifiers.items()]
    if described.type is Plain.TENSOR:
        [name] = identifiers.values()
        return Shown(type=f"{class_name}Outputs[{ts_string(name)}]", value=f"outputs.{name}")
    made = PLAIN[described.type] if isinstance(described.type, Plain) else described.type
    made = NARROWED.get(made, made)
    if not described.function:
        return Shown(type=made, value=tensors[0])
    text = [texts[getattr(output, described.text).name]] if described.text else []
    lines = [_lines_name(output, each) for each in described.lines]
    numbers = [str(getattr(output, each)) for each in described.numbers]
    most, least = [getattr(output, each) for each in described.limits] or (0, 0.0)
    limits = [top or str(most), _number(least)] if described.limits else []
    return Shown(
        type=f"readonly {made}[]" if described.is_list else made,
        value=f"{described.function}({', '.join([*tensors, *text, *lines, *numbers, *limits])})",
    )


def _number(value: float) -> str:
    """A number in JavaScript syntax: `0`, `0.25`, `-Infinity`."""
    if not math.isfinite(value):
        return repr(value).replace("inf", "Infinity")
    return str(int(value)) if value == int(value) else repr(value)


def _lines_name(output: TypedOutput, field: str) -> str:
    return f"{output.identifier}{field.capitalize()}"


def labels(output: TypedOutput) -> tuple[LabelsView, ...]:
    """Labels, symbols of an alphabet, units."""
    return tuple(
        LabelsView(name=_lines_name(output, each), lines=tuple(_lines(getattr(output, each))))
        for each in output.DESCRIBED.lines
    )


def _lines(texts: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Splits texts into lines of as many as fit."""
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
