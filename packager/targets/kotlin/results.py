"""Spells a contract's results in Kotlin: types, expressions over the output tensors, labels."""

from collections.abc import Mapping, Sequence

from packager.core import names
from packager.core.contract import LOWEST, Contract, TypedOutput
from packager.core.described import Plain
from packager.core.errors import ModelError
from packager.render.templates import kdoc_code, kotlin_string
from packager.targets.kotlin.view import LabelsView, ModelView, OutputView, ResultView

PLAIN = {Plain.NUMBER: "Float", Plain.NUMBERS: "FloatArray", Plain.TEXTS: "Flow<String>"}


def results(contract: Contract, view: ModelView, texts: Mapping[str, str], top: str) -> tuple[ResultView, ...]:
    """The contract's results: one value per output, and the shape of a tensor whose size the run determines.

    `texts` are the parameters with texts, by name of their tensor; `top` is the parameter for the number of classes,
    empty for that of the contract.
    """
    taken = [each.identifier for each in contract.outputs]
    row = ".row(row, count)" if contract.is_batch else ""
    return tuple(
        part
        for each in contract.outputs
        for part in (
            _tensor(each, view, taken, row)
            if each.DESCRIBED.type is Plain.TENSOR
            else (_result(each, view, texts, top, row),)
        )
    )


def labels(contract: Contract, view: ModelView) -> tuple[LabelsView, ...]:
    """Labels, alphabets and units of the outputs. Raises ModelError for a line break in one."""
    return tuple(
        LabelsView(path=_path(each, field, view), text=_text(each, lines, view))
        for each in contract.outputs
        for field in each.DESCRIBED.lines
        if (lines := getattr(each, field))
    )


def _path(result: TypedOutput, field: str, view: ModelView) -> str:
    return f"{view.kotlin_package.replace('.', '/')}/{view.class_name}.{result.identifier}.{field}.txt"


def _text(result: TypedOutput, lines: Sequence[str], view: ModelView) -> str:
    for number, line in enumerate(lines):
        if "\n" in line:
            where = f"model '{view.name}': '{result.identifier}'"
            raise ModelError(f"{where}: label {number} has a line break", hint="remove the line break")
    return "".join(f"{line}\n" for line in lines)


def output(tensor: str, view: ModelView) -> OutputView:
    return next(each for each in (*view.pinned_outputs, *view.copied_outputs) if each.tensor == tensor)


def is_pinned(tensor: str, view: ModelView) -> bool:
    """Whether its shape is known before the run."""
    return any(each.tensor == tensor for each in view.pinned_outputs)


def _tensors(result: TypedOutput, view: ModelView) -> list[OutputView]:
    return [output(getattr(result, each).name, view) for each in result.DESCRIBED.tensors]


def _tensor(result: TypedOutput, view: ModelView, taken: Sequence[str], row: str) -> tuple[ResultView, ...]:
    """`row` takes the values of one text of several out of a tensor; empty if there is one text."""
    (shown,) = _tensors(result, view)
    about = f"`{kdoc_code(shown.tensor)}`: {shown.element} `{kdoc_code(shown.shape)}`. {shown.note}".rstrip()
    value = ResultView(
        identifier=result.identifier,
        kotlin_type=shown.kotlin_type,
        value=f"output.{shown.identifier}{row}",
        about=about,
    )
    if is_pinned(shown.tensor, view):
        return (value,)
    (name,) = names.identifiers([f"{result.identifier}-shape"], prefix="output", taken=taken)
    shape = ResultView(
        identifier=name,
        kotlin_type="LongArray",
        value=f"output.{shown.shape_identifier}{'.rowShape()' if row else ''}",
        about=f"The shape of [{result.identifier}].",
    )
    return value, shape


def _result(result: TypedOutput, view: ModelView, texts: Mapping[str, str], top: str, row: str) -> ResultView:
    described = result.DESCRIBED
    made = PLAIN[described.type] if isinstance(described.type, Plain) else described.type
    tensors = [f"output.{each.identifier}{row}" for each in _tensors(result, view)]
    shape = [_shape(getattr(result, described.shape).name, view)] if described.shape else []
    text = [texts[getattr(result, described.text).name]] if described.text else []
    lines = [
        f"linesOf({kotlin_string(_path(result, each, view))})" if getattr(result, each) else "emptyList()"
        for each in described.lines
    ]
    most, least = [getattr(result, each) for each in described.limits] or (0, 0.0)
    limits = [top or str(most), _number(least)] if described.limits else []
    numbers = [str(getattr(result, each)) for each in described.numbers]
    call = f"{described.function}({', '.join([*tensors, *shape, *text, *lines, *numbers, *limits])})"
    return ResultView(
        identifier=result.identifier,
        kotlin_type=f"List<{made}>" if described.is_list else made,
        value=call if described.function else f"{tensors[0]}.toArray()",
        about=described.sentence,
    )


def _shape(tensor: str, view: ModelView) -> str:
    """Kotlin expression of type LongArray."""
    shown = output(tensor, view)
    return f"longArrayOf({', '.join(shown.sizes)})" if is_pinned(tensor, view) else f"output.{shown.shape_identifier}"


def _number(value: float) -> str:
    """A number in Kotlin syntax; the least one takes in every score but NaN."""
    return "-Float.MAX_VALUE" if value <= LOWEST else f"{float(value)!r}f"
