"""A text that a model makes, part by part."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy
from numpy.typing import NDArray

from .chat import ChatError, ChatTemplate, Message, prompt
from .errors import ModelError, ModelErrorCode

Tensors = Mapping[str, NDArray[Any]]


def generated(
    run: Callable[[Tensors], Tensors],
    fed: Callable[[bool], Tensors],
    state: Tensors,
    nexts: Mapping[str, str],
    points: str,
    finished: str,
) -> Iterator[str]:
    """The parts of a text, none of them empty. `fed` gives the inputs of the first run and of further ones, `nexts` the
    output with the next value of each state."""
    is_first, is_last = True, False
    while not is_last:
        found = run({**fed(is_first), **state})
        state = {name: found[output] for name, output in nexts.items()}
        is_first, is_last = False, bool(found[finished][0])
        if part := text_of(found[points]):
            yield part


async def streamed(parts: Iterator[str]) -> AsyncIterator[str]:
    """The same parts, each made in a thread while the event loop goes on."""
    while (part := await asyncio.to_thread(next, parts, None)) is not None:
        yield part


def prompt_of(template: ChatTemplate, messages: Sequence[Message]) -> str:
    """The prompt of a conversation. Raises ModelError for one that the template does not take."""
    try:
        return prompt(template, messages)
    except ChatError as error:
        raise ModelError(ModelErrorCode.BAD_INPUT, str(error)) from error


def text_of(points: NDArray[numpy.int32]) -> str:
    """The text of code points."""
    return "".join(map(chr, points.tolist()))


def seed_tensor(seed: int) -> NDArray[numpy.int64]:
    """A seed, as models take it."""
    return numpy.array([seed], numpy.int64)
