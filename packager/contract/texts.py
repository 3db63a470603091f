"""Finds the text that an output refers to."""

from collections.abc import Mapping
from typing import TypeVar

from packager.contract.kind import BatchTokens, Core, TextTokens
from packager.core.errors import ConfigError, nearest
from packager.core.signature import TensorSpec

Known = TypeVar("Known", TextTokens, BatchTokens)


def tokens_of(core: Core, name: str, *, texts: int) -> TextTokens:
    """Tokens of the input `name`, or of the only one with a text. Raises ConfigError if there is none such, or if it
    takes another number of `texts`."""
    if core.is_batch:
        raise ConfigError(
            "takes no batch of texts", hint="omit batch in the table of the text: apps pass one after the other"
        )
    return _of(core.tokens, name, texts)


def texts_of(core: Core, name: str, *, texts: int) -> tuple[TensorSpec, ...]:
    """Code points of the texts of an input, of a batch or not. Raises ConfigError as `tokens_of` does."""
    return (_of(core.batches, name, texts) if core.is_batch else _of(core.tokens, name, texts)).texts


def _of(tokens: Mapping[str, Known], name: str, texts: int) -> Known:
    if not tokens:
        raise ConfigError("the model takes no text", hint='describe the input with the token ids: kind = "text"')
    if name and name not in tokens:
        raise ConfigError(f"text '{name}' is not an input with a text", hint=nearest(name, tokens))
    if not name and len(tokens) > 1:
        raise ConfigError(f"the model takes {len(tokens)} texts", hint=f"set text to one of {', '.join(tokens)}")
    found = tokens[name] if name else next(iter(tokens.values()))
    if len(found.texts) != texts:
        wanted = "omit names" if texts == 1 else 'set names = ["query", "document"]'
        raise ConfigError(
            f"needs an input of {texts} texts, but it has {len(found.texts)}", hint=f"{wanted} in the input's table"
        )
    return found
