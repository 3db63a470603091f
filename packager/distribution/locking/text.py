"""Writes and reads the file: TOML with one line for each thing, so that a diff has a line for each change."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from packager.core import parsing, user_files
from packager.core.characters import toml_string
from packager.core.errors import ConfigError
from packager.distribution.locking.lock import LOCK, ORDER, Facts, Lock
from packager.files.atomic import atomic_file

VERSION = 1
"""Version of the format; raised when a key gets another meaning or is gone."""
VERSION_KEY, NOT_LOCKED = "lock-version", "not-locked"
HEAD = """\
# Everything that mobpack builds this project from, one line for each thing.
# `mobpack lock` renews it and says what has changed; `mobpack build --locked` refuses anything else.
"""
BARE = re.compile(r"[A-Za-z0-9_-]+")
MAX_BYTES = 64 << 20
RENEW = "run: mobpack lock"


def write(path: Path, lock: Lock) -> None:
    """Raises ToolError if it cannot be written."""
    with atomic_file(path) as file:
        file.write(text_of(lock).encode())


def text_of(lock: Lock) -> str:
    """The text of the file; the same content gives the same text."""
    lines = [HEAD, f"{VERSION_KEY} = {VERSION}"]
    if lock.not_locked:
        lines += [f"{NOT_LOCKED} = [", *(f"  {toml_string(each)}," for each in sorted(lock.not_locked)), "]"]
    for name in sorted(lock.tables, key=ORDER.index):
        if lock.tables[name]:
            lines += ["", f"[{name}]", *_lines(lock.tables[name])]
    return "\n".join(lines) + "\n"


def _lines(table: Mapping[str, Facts]) -> Iterator[str]:
    for name, facts in sorted(table.items()):
        pairs = ", ".join(f"{_key(key)} = {_value(value)}" for key, value in facts.items())
        yield f"{_key(name)} = {{ {pairs} }}"


def _key(name: str) -> str:
    return name if BARE.fullmatch(name) else toml_string(name)


def _value(value: str | int) -> str:
    return str(value) if isinstance(value, int) else toml_string(value)


def read(path: Path) -> Lock:
    """The lock in `path`. Raises ConfigError if there is none, or one that this version cannot read."""
    try:
        document = parsing.toml_of(user_files.read_text(path, limit_bytes=MAX_BYTES))
    except FileNotFoundError as error:
        raise ConfigError(f"{path}: no such file", hint=f"{RENEW}, and keep {LOCK} beside mobpack.toml") from error
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}", hint="give a file you can read") from error
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path}: not valid TOML: {error}", hint=f"restore it, or {RENEW}") from error
    found = document.pop(VERSION_KEY, "missing")
    if found != VERSION:
        raise ConfigError(
            f"{path}: {VERSION_KEY} is {found}, and this version of mobpack reads {VERSION}",
            hint=f"use the version of mobpack that wrote it, or {RENEW}",
        )
    not_locked = document.pop(NOT_LOCKED, [])
    if not _is_lock(document) or not isinstance(not_locked, list):
        raise ConfigError(f"{path}: not a lock of mobpack", hint=f"restore it, or {RENEW}")
    return Lock(tables=document, not_locked=tuple(map(str, not_locked)))


def _is_lock(document: object) -> bool:
    return isinstance(document, dict) and all(
        name in ORDER and isinstance(table, dict) and all(map(_is_facts, table.values()))
        for name, table in document.items()
    )


def _is_facts(facts: object) -> bool:
    return isinstance(facts, dict) and all(type(value) in (str, int) for value in facts.values())
