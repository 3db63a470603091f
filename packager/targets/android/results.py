"""Views of a contract's results for Kotlin: expressions over the output tensors, and labels."""

from collections.abc import Mapping, Sequence

from packager.core import names
from packager.core.contract import (
    SEVERAL,
    BoxesOutput,
    ClassesOutput,
    Contract,
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
from packager.render import kdoc_code
from packager.targets.android.view import ModelView, OutputView, ResultView, WordsView

PIECE = 90
"""characters of labels per line of code"""
MOST_PIECES = 2000
"""limit of literals per method: the JVM allows 64 KiB of code, and each literal takes about ten bytes"""
LOWEST = -3.4e38
"""thresholds at or below this value accept everything"""


def results(contract: Contract, view: ModelView, texts: Mapping[str, str]) -> tuple[ResultView, ...]:
    """The contract's results: one value per output, and the shape of a tensor whose size the run determines.

    `texts` are the parameters with texts, by name of their tensor.
    """
    taken = [each.identifier for each in contract.outputs]
    top = "top" if contract.verb != SEVERAL else ""
    row = ".row(row, count)" if contract.is_batch else ""
    return tuple(part for each in contract.outputs for part in _result(each, view, taken, top, texts, row))


def words(contract: Contract, model: str) -> tuple[WordsView, ...]:
    """The labels and alphabets of the outputs. Raises ModelError for a label with a line break."""
    return tuple(
        WordsView(identifier=each.identifier, pieces=pieces(lines, where=f"model '{model}': '{each.identifier}'"))
        for each in contract.outputs
        if (lines := _lines(each))
    )


def pieces(lines: Sequence[str], *, where: str) -> tuple[str, ...]:
    """`lines` joined into pieces that fit a line of code, few enough for one method."""
    for number, line in enumerate(lines):
        if "\n" in line:
            raise ModelError(f"{where}: label {number} has a line break", hint="remove the line break")
    room = max(PIECE, sum(len(line) + 1 for line in lines) // MOST_PIECES)
    made: list[list[str]] = [[]]
    for line in lines:
        if made[-1] and sum(len(each) + 1 for each in made[-1]) + len(line) > room:
            made.append([])
        made[-1].append(line)
    return tuple("\n".join(each) for each in made)


def output(tensor: str, view: ModelView) -> OutputView:
    return next(each for each in (*view.pinned_outputs, *view.copied_outputs) if each.tensor == tensor)


def is_pinned(tensor: str, view: ModelView) -> bool:
    """Whether its shape is known before the run."""
    return any(each.tensor == tensor for each in view.pinned_outputs)


def _result(
    result: TypedOutput, view: ModelView, taken: Sequence[str], top: str, texts: Mapping[str, str], row: str
) -> tuple[ResultView, ...]:
    """`row` takes the values of one text of several out of a tensor; empty if there is one text."""
    if isinstance(result, TensorOutput):
        return _tensor(result, view, taken, row)
    if isinstance(result, SpansOutput | PairsOutput):
        kotlin_type, value, about = _of_texts(result, view, texts, row)
    else:
        kotlin_type, value, about = _value(result, view, top, row)
    return (ResultView(identifier=result.identifier, kotlin_type=kotlin_type, value=value, about=about),)


def _tensor(result: TensorOutput, view: ModelView, taken: Sequence[str], row: str) -> tuple[ResultView, ...]:
    shown = output(result.spec.name, view)
    about = f"`{kdoc_code(shown.tensor)}`: {shown.element} `{kdoc_code(shown.shape)}`. {shown.note}".rstrip()
    value = ResultView(
        identifier=result.identifier,
        kotlin_type=shown.kotlin_type,
        value=f"output.{shown.identifier}{row}",
        about=about,
    )
    if is_pinned(result.spec.name, view):
        return (value,)
    (name,) = names.identifiers([f"{result.identifier}-shape"], prefix="output", taken=taken)
    shape = ResultView(
        identifier=name,
        kotlin_type="LongArray",
        value=f"output.{shown.shape_identifier}{'.rowShape()' if row else ''}",
        about=f"The shape of [{result.identifier}].",
    )
    return value, shape


def _value(
    result: ClassesOutput | BoxesOutput | MaskOutput | EmbeddingOutput | TextOutput | GeneratedOutput,
    view: ModelView,
    top: str,
    row: str,
) -> tuple[str, str, str]:
    """Type, expression and a sentence that describes it."""
    known = f"Words.{result.identifier}" if _lines(result) else "emptyList()"

    def of(tensor: str) -> str:
        return f"output.{output(tensor, view).identifier}{row}"

    match result:
        case ClassesOutput():
            call = f"classifications({of(result.scores.name)}, {known}, {top or result.top_k}, {_float(result)})"
            return "List<Classification>", call, "Which classes the model sees, best first."
        case BoxesOutput():
            tensors = f"{of(result.boxes.name)}, {of(result.scores.name)}, {of(result.classes.name)}"
            return "List<Detection>", f"detections({tensors}, {known})", "What the model sees and where, best first."
        case MaskOutput():
            tensors = f"{of(result.classes.name)}, {of(result.scores.name)}"
            call = f"Mask({_shape(result.classes.name, view)}, {tensors}, {known})"
            return "Mask", call, "What the model sees at each place."
        case EmbeddingOutput():
            return "FloatArray", f"{of(result.vector.name)}.toArray()", "A point of length 1: near ones mean alike."
        case TextOutput():
            call = f"reading({of(result.symbols.name)}, {of(result.scores.name)}, {known})"
            return "Reading", call, "What the model reads."
        case GeneratedOutput():
            return "Flow<String>", f"{of(result.code_points.name)}.text()", "The text that the model makes, in parts."


def _of_texts(
    result: SpansOutput | PairsOutput, view: ModelView, texts: Mapping[str, str], row: str
) -> tuple[str, str, str]:
    """As `_value`."""
    if isinstance(result, PairsOutput):
        score = output(result.score.name, view).identifier
        return "Float", f"output.{score}.get({'row' if row else 0})", "How well a document fits a query."
    tensors = (result.classes, result.starts, result.ends, result.scores)
    values = ", ".join(f"output.{output(each.name, view).identifier}" for each in tensors)
    call = f"entitiesOf({values}, {texts[result.text.name]}, Words.{result.identifier})"
    return "List<Entity>", call, "The named parts of the text, in its order."


def _lines(result: TypedOutput) -> tuple[str, ...]:
    match result:
        case ClassesOutput() | BoxesOutput() | MaskOutput() | SpansOutput():
            return result.labels
        case TextOutput():
            return result.alphabet
        case _:
            return ()


def _shape(tensor: str, view: ModelView) -> str:
    """Kotlin expression of type LongArray."""
    shown = output(tensor, view)
    return f"longArrayOf({', '.join(shown.sizes)})" if is_pinned(tensor, view) else f"output.{shown.shape_identifier}"


def _float(result: ClassesOutput) -> str:
    return "-Float.MAX_VALUE" if result.threshold <= LOWEST else f"{float(result.threshold)!r}f"
