"""Views of a contract's results for Swift: an expression per result, and the labels."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from packager.core import names
from packager.core.contract import TensorOutput, TypedOutput
from packager.core.described import Plain
from packager.core.errors import ModelError
from packager.core.values import TensorSpec
from packager.render.templates import swift_doc, swift_string
from packager.targets.ios.typed_view import LabelsView, ResultView
from packager.targets.ios.view import OutputView

PACKED = 96
"""characters of labels per line of a literal; a longer label has its own line"""

PLAIN = {Plain.NUMBER: "Float", Plain.NUMBERS: "[Float]", Plain.TEXTS: "AsyncThrowingStream<String, any Error>"}
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
    described = output.DESCRIBED
    specs = [getattr(output, each) for each in described.tensors]
    values = [outcome.values(each) for each in specs]
    if described.type is Plain.TENSOR:
        view = outcome.tensors[specs[0].name]
        return (
            f"[{view.swift_type}]",
            f"`{swift_doc(view.tensor)}`: {view.element} `{swift_doc(view.shape)}`.",
            values[0],
        )
    made = PLAIN[described.type] if isinstance(described.type, Plain) else described.type
    value = values[0]
    if described.function:
        shape = [outcome.shape(getattr(output, described.shape))] if described.shape else []
        text = [outcome.texts[getattr(output, described.text).name]] if described.text else []
        lines = [
            f"Self.{_lines_name(output, each)}" if any(getattr(output, each)) else "[]" for each in described.lines
        ]
        most, least = [getattr(output, each) for each in described.limits] or (0, 0.0)
        limits = [f"top: {top or most}", f"threshold: {_float(least)}"] if described.limits else []
        numbers = [str(getattr(output, each)) for each in described.numbers]
        value = f"{described.function}({', '.join([*values, *shape, *text, *lines, *numbers, *limits])})"
    return f"[{made}]" if described.is_list else made, described.sentence, value


def _float(number: float) -> str:
    """Swift literal of type Float, limited to its range."""
    return repr(min(max(number, -LARGEST), LARGEST))


def _lines_name(output: TypedOutput, field: str) -> str:
    return f"{output.identifier}{field.capitalize()}"


def declared_labels(outputs: tuple[TypedOutput, ...]) -> tuple[LabelsView, ...]:
    """Labels, symbols and units that a class declares. Raises ModelError for one with a line break."""
    return tuple(
        LabelsView(
            identifier=_lines_name(output, field),
            words=f"{field.capitalize()} by number.",
            lines=tuple(packed(texts)),
        )
        for output in outputs
        for field in output.DESCRIBED.lines
        if any(texts := getattr(output, field))
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
