"""Reads TOML files, and rejects documents that no build can use."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from packager.core import characters, parsing, user_files
from packager.core.errors import ConfigError

MAX_BYTES = 1 << 20
"""Maximum size of a file: no hand-written one is larger."""
DEEPEST = 64
"""Maximum nesting of tables and arrays; ours need at most six levels."""
FORMAT = "see toml.io for the format"
UNQUOTED = re.compile(r"\s*(?P<key>[\w-]+)\s*=\s*(?P<text>(?!(?i:true|false)\b)\w[\w./+ -]*?)\s*(#.*)?")
UNREAD = frozenset({"path"})
"""Keys whose values are only opened, never written: a user's folder may have any name."""


class Written(float):
    """A number with a point, and its digits as they are in the file: 1.10 equals 1.1."""

    def __new__(cls, text: str) -> "Written":
        number = super().__new__(cls, text)
        number.text = text
        return number

    text: str


def read(path: Path, *, missing: str = "run: mobpack init MODEL.onnx") -> dict[str, Any]:
    """The document in `path`, with or without a byte-order mark. Raises ConfigError; `missing` is its hint if there is
    no such file."""
    try:
        document = parsing.toml_of(user_files.read_text(path, limit_bytes=MAX_BYTES), parse_float=Written)
    except FileNotFoundError as error:
        raise ConfigError(f"{path}: no such file", hint=missing) from error
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}", hint="give a file you can read") from error
    except parsing.TooDeepError as error:
        raise _too_deep(str(path)) from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path}: not valid TOML: {error}", hint=_hint(path, str(error))) from error
    except ValueError as error:  # errors of UTF-8, and of integers with thousands of digits
        raise ConfigError(f"{path}: not valid TOML: {error}", hint=FORMAT) from error
    return document


def _hint(path: Path, error: str) -> str:
    """Quotes for text that stands without them in the line that `error` names: `version = 1.0.0`."""
    place = re.search(r"at line (\d+)", error)
    lines = user_files.read_text(path, limit_bytes=MAX_BYTES).split("\n")
    found = UNQUOTED.fullmatch(lines[int(place[1]) - 1]) if place and "overwrite" not in error else None
    return f'text stands in quotes: {found["key"]} = "{found["text"]}"' if found else FORMAT


def value_of(text: str) -> Any:
    """A value of `--set`: TOML, or plain text if it is not valid TOML. Raises ConfigError."""
    try:
        return parsing.toml_of(f"value = {text}", parse_float=Written)["value"]
    except parsing.TooDeepError as error:
        raise _too_deep("--set") from error
    except ValueError:
        return text


def refuse(document: Mapping[str, Any]) -> None:
    """Raises ConfigError for excessive nesting and for invisible characters."""
    for where, text in _texts(document, (), DEEPEST):
        if character := characters.unseen(text):
            raise ConfigError(
                f"{characters.shown('.'.join(where))}: {characters.in_words(character)} is not allowed here",
                hint="invisible characters and characters that reorder text are not written to packages: remove it",
            )


def _texts(value: object, where: tuple[str, ...], depth: int) -> Iterator[tuple[tuple[str, ...], str]]:
    """Every key and every text, each with the keys that lead to it."""
    if not depth:
        raise _too_deep(".".join(where[:2]))
    if isinstance(value, str) and not (where and where[-1] in UNREAD):
        yield where, value
    elif isinstance(value, Mapping):
        for key, each in value.items():
            yield (*where, str(key)), str(key)
            yield from _texts(each, (*where, str(key)), depth - 1)
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each, where, depth - 1)


def _too_deep(where: str) -> ConfigError:
    return ConfigError(
        f"{where}: more than {DEEPEST} nested tables or arrays", hint="docs/configuration.md has every key"
    )
