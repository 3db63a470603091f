"""Samples of models that take texts: code points, as apps pass them."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from packager.core import parsing, user_files
from packager.core.chat import ChatError, ChatTemplate, Message, prompt
from packager.core.contract import BETWEEN, TextInput
from packager.core.errors import ConfigError
from packager.core.values import Model
from packager.samples.sample import MAX_BYTES, SampleSet, write_arrays

if TYPE_CHECKING:
    import numpy


HINT = 'write [{"role": "user", "content": "Hello"}]'


def taken_texts(model: Model) -> tuple[TextInput, ...]:
    """The texts that an app passes to `model`; none if it passes anything else, too."""
    parameters = model.contract.parameters if model.contract else ()
    found = tuple(each for each in parameters if isinstance(each, TextInput))
    return found if len(found) == len(parameters) else ()


def chat_of(model: Model) -> ChatTemplate | None:
    """Makes prompts of conversations with `model`; None for a model without."""
    generated = model.contract.generated if model.contract else None
    return generated.chat if generated else None


def prompt_in(file: Path, template: ChatTemplate | None) -> str:
    """The prompt of the conversation in a JSON file: messages with `role` and `content`. Raises ConfigError."""
    if template is None:
        raise ConfigError(f"{file}: the model takes no conversation", hint="name its chat-template, or pass texts")
    try:
        found = parsing.json_of(user_files.read_text(file, limit_bytes=MAX_BYTES))
    except (OSError, ValueError) as error:
        raise ConfigError(f"{file}: cannot be read as JSON ({error})", hint=HINT) from error
    try:
        return prompt(template, [_message(each, f"message {number}") for number, each in enumerate(_list(found), 1)])
    except ChatError as error:
        raise ConfigError(f"{file}: {error}", hint=HINT) from error


def _list(found: object) -> list[object]:
    if not isinstance(found, list):
        raise ChatError("is no list of messages")
    return found


def _message(found: object, where: str) -> Message:
    if not isinstance(found, dict) or set(found) != {"role", "content"}:
        raise ChatError(f"{where} has not the keys role and content alone")
    if not isinstance(found["role"], str) or not isinstance(found["content"], str):
        raise ChatError(f"{where} has a role or a content that is no text")
    return Message(role=found["role"], text=found["content"])


def sample_of(model: Model, texts: Sequence[str], folder: Path) -> SampleSet:
    """One sample of `texts`, one for each input of the model, written below `folder`. Raises ConfigError for another
    number of texts, or a model that carries states."""
    return batch_of(model, [texts], folder)


def batch_of(model: Model, rows: Sequence[Sequence[str]], folder: Path) -> SampleSet:
    """One sample of a run with `rows`, each with one text for each input of the model. Raises ConfigError as
    `sample_of` does."""
    inputs = taken_texts(model)
    for texts in rows:
        if len(texts) != len(inputs) or len(inputs) != len(model.signature.inputs):
            wanted = ", ".join(each.identifier for each in inputs)
            hint = "pass as many texts as it takes"
            raise ConfigError(f"{len(texts)} texts for a model that takes {wanted}", hint=hint)
    path = folder / "text.npz"
    points = map(code_points, zip(*rows, strict=True))
    write_arrays(path, {each.code_points.name: array for each, array in zip(inputs, points, strict=True)})
    return SampleSet(paths=(path,), description="1 text" if len(rows) == 1 else f"{len(rows)} texts")


def code_points(texts: Sequence[str]) -> "numpy.ndarray":
    """int32: the code points of `texts`, as a TextInput has them."""
    import numpy

    found = [point for text in texts for point in (BETWEEN, *map(ord, text))][1:]
    return numpy.array(found or [-1], numpy.int32)
