"""Reads text of others: of files, devices, tools and the network. Whatever is wrong with it, the error is a ValueError.

Python's own readers raise RecursionError for deep nesting, OverflowError for infinity as a whole number, ValueError for
thousands of digits, and UnicodeDecodeError, which is a ValueError. A caller turns the one error into its own, with what
to do about it.
"""

import json
import re
import struct
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeAlias

from packager.core.errors import MobpackError

DEEPEST = 200
"""Maximum nesting of JSON: steps that read it call themselves for each level."""
MOST_PARTS = 16
"""Maximum number of parts of a key of TOML: the time that `tomllib` takes for a key grows with their square."""
TEXTS = re.compile(
    r"""
    \"{3}(?:\\.|(?!\"{3}).)*+(?:\"{3})?
    | \'{3}(?:(?!\'{3}).)*+(?:\'{3})?
    | \"(?:\\.|[^"\\\n])*+\"?
    | \'[^'\n]*+\'?
    | \#[^\n]*+
    """,
    re.DOTALL | re.VERBOSE,
)
"""Strings and comments of TOML, also those without an end."""
LONG_KEY = re.compile(rf"(?<![\w-])[\w-]++(?:[ \t]*+\.[ \t]*+[\w-]++){{{MOST_PARTS},}}")
WHOLE = re.compile(r"-?[0-9]{1,18}")
"""A whole number that fits into 64 bits."""
DAMAGE = (ValueError, KeyError, TypeError, AttributeError, IndexError, OverflowError, RecursionError, struct.error)
"""Errors of taking values out of a document that has another form than it should."""


Json: TypeAlias = Mapping[str, Any]
"""An object of JSON in any form: its reader makes a value of it, or passes it on."""


class TooDeepError(ValueError):
    """A document has too many tables, objects or lists inside each other."""


def json_of(content: str | bytes, **options: Any) -> Any:
    """The value of a JSON text; `options` are those of `json.loads`. Raises ValueError."""
    try:
        value = json.loads(content, **options)
    except RecursionError as error:
        raise _too_deep() from error
    if _openings(content) > DEEPEST:
        _refuse_deep(value)
    return value


def _openings(content: str | bytes) -> int:
    if isinstance(content, str):
        return content.count("[") + content.count("{")
    return content.count(b"[") + content.count(b"{")


def _refuse_deep(value: object) -> None:
    level = [value]
    for _ in range(DEEPEST):
        level = [
            child
            for each in level
            for child in (each.values() if isinstance(each, dict) else each if isinstance(each, list) else ())
            if isinstance(child, dict | list)
        ]
        if not level:
            return
    raise _too_deep()


def _too_deep() -> TooDeepError:
    return TooDeepError(f"it has more than {DEEPEST} objects or lists inside each other")


def toml_of(text: str, *, parse_float: Callable[[str], Any] = float) -> dict[str, Any]:
    """The document of a TOML text. Raises ValueError: TooDeepError, or `tomllib`'s own with the place."""
    if LONG_KEY.search(TEXTS.sub("s", text)):
        raise TooDeepError(f"a key has more than {MOST_PARTS} parts")
    try:
        return tomllib.loads(text, parse_float=parse_float)
    except RecursionError as error:
        raise TooDeepError("it has too many arrays or tables inside each other") from error


def whole_number(text: str) -> int | None:
    """The number of ASCII digits, with a minus or without; None for all other text."""
    return int(text) if WHOLE.fullmatch(text) else None


@contextmanager
def damage_as(error_of: Callable[[str], MobpackError]) -> Iterator[None]:
    """In the block, values are taken out of a document of others: what fails becomes the error that `error_of` makes of
    the reason."""
    try:
        yield
    except MobpackError:
        raise
    except DAMAGE as error:
        raise error_of(reason_of(error)) from error


def reason_of(error: BaseException) -> str:
    """Words for an error of `DAMAGE`, of at most one line, which may name two paths."""
    if isinstance(error, KeyError):
        return f"it has no {str(error)[:80]}"
    first = next(iter(str(error).splitlines()), "")
    return first[:1000] or type(error).__name__
