"""Changes to a mobpack.toml that leave all else as its authors have written it."""

import re

from packager.core import parsing
from packager.core.errors import ConfigError

TABLE = re.compile(r"^[ \t]*\[[ \t]*package[ \t]*\][^\n]*$", re.MULTILINE)
NEXT = re.compile(r"^[ \t]*\[", re.MULTILINE)
VERSION = re.compile(r"^(?P<key>[ \t]*version[ \t]*=[ \t]*)(?P<value>\"[^\"\n]*\"|'[^'\n]*')", re.MULTILINE)


def with_version(text: str, version: str) -> str:
    """The text of a mobpack.toml with another version of the package.

    Raises ConfigError if its `[package]` table is written in a form that this function does not know.
    """
    if "\r\n" in text:
        return with_version(text.replace("\r\n", "\n"), version).replace("\n", "\r\n")
    table = TABLE.search(text)
    if table:
        end = found.start() if (found := NEXT.search(text, table.end())) else len(text)
        known = VERSION.search(text, table.end(), end)
        begin, stop = (known.start("value"), known.end("value")) if known else (table.end(), table.end())
        made = f'{text[:begin]}{"" if known else chr(10) + "version = "}"{version}"{text[stop:]}'
        if _package(made) == {**_package(text), "version": version}:
            return made
    raise ConfigError(
        f"cannot write version {version} into mobpack.toml: its [package] table is in an unusual form",
        hint=f'write version = "{version}" there, and run the command again',
    )


def _package(text: str) -> dict[str, object]:
    try:
        found = parsing.toml_of(text).get("package", {})
    except ValueError:
        return {}
    return dict(found) if isinstance(found, dict) else {}
