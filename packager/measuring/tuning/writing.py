"""Writes tuned settings into a mobpack.toml, which otherwise stays as its authors have written it."""

import json
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from packager.core import parsing
from packager.core.errors import ConfigError
from packager.core.tuned import Chips, Tuned

BARE = re.compile(r"[A-Za-z0-9_-]+")
ANY_TABLE = re.compile(r"^[ \t]*\[", re.MULTILINE)
NOTE = "# Measured by mobpack tune."


def with_tuned(text: str, target: str, chips: Chips) -> str:
    """The text of a mobpack.toml with `chips` as the tuned settings of a target; those of other chips and models stay.
    Empty settings remove those that were there.

    Raises ConfigError if its tuned settings are written in a form that this function does not know.
    """
    if "\r\n" in text:
        return with_tuned(text.replace("\r\n", "\n"), target, chips).replace("\n", "\r\n")
    kept = "".join(part for part in _parts(text) if not _is_of(part, target, chips))
    printed = tables(target, chips)
    if not printed and kept == text:
        return text
    made = "\n".join(filter(None, (kept.rstrip("\n"), printed and f"\n{printed}"))) + "\n"
    if _without(made, target, chips) != _without(text, target, chips):
        raise ConfigError(
            f"cannot write tuned settings of {target} into mobpack.toml: they stand there in an unusual form",
            hint=f"remove the tuned settings of {', '.join(chips)} there, and run the command again",
        )
    return made


def tables(target: str, chips: Chips) -> str:
    """The tables that `chips` are in a mobpack.toml; empty for empty settings."""
    return "\n".join(_printed(target, chips)).rstrip("\n")


def _parts(text: str) -> Iterator[str]:
    """The text from one table to the next, each with the note before it."""
    starts = [0, *(found.start() for found in ANY_TABLE.finditer(text)), len(text)]
    for begin, end in pairwise(starts):
        if begin < end:
            yield text[begin:end]


def _is_of(part: str, target: str, chips: Chips) -> bool:
    """Whether a table is one that is written anew."""
    if not part.lstrip().startswith("["):
        return False
    try:
        found: Any = parsing.toml_of(part.splitlines()[0])
    except ValueError:
        return False
    tuned = found.get("target", {}).get(target, {}) if isinstance(found.get("target"), dict) else {}
    named = tuned.get("tuned", {}) if isinstance(tuned, dict) else {}
    return bool(named) and all(chip in chips and set(models) <= set(chips[chip]) for chip, models in named.items())


def _printed(target: str, chips: Chips) -> Iterator[str]:
    for chip, models in sorted(chips.items()):
        for model, tuned in sorted(models.items()):
            if tuned == Tuned():
                continue
            yield f"[target.{target}.tuned.{_key(chip)}.{_key(model)}]"
            yield NOTE
            yield from _keys(tuned)
            yield ""


def _keys(tuned: Tuned) -> Iterator[str]:
    if tuned.variant:
        yield f"variant = {json.dumps(tuned.variant)}"
    if tuned.providers:
        yield f"providers = {json.dumps(list(tuned.providers))}"
    if tuned.threads:
        yield f"threads = {tuned.threads}"
    for provider, options in sorted(tuned.provider_options.items()):
        pairs = ", ".join(f"{_key(key)} = {json.dumps(value)}" for key, value in sorted(options.items()))
        yield f"provider-options.{_key(provider)} = {{ {pairs} }}"


def _key(text: str) -> str:
    return text if BARE.fullmatch(text) else json.dumps(text)


def _without(text: str, target: str, chips: Chips) -> Any:
    """The document without the settings that are written anew; None for a text that is no TOML."""
    try:
        document: Any = parsing.toml_of(text)
    except ValueError:
        return None
    tuned = document.get("target", {}).get(target, {}).get("tuned", {})
    for chip in [*tuned]:
        for model in [*tuned[chip]]:
            if model in chips.get(chip, {}):
                del tuned[chip][model]
        if not tuned[chip]:
            del tuned[chip]
    table = document.get("target", {}).get(target, {})
    if not table.get("tuned", True):
        del table["tuned"]
    if not document.get("target", {}).get(target, True):
        del document["target"][target]
    if not document.get("target", True):
        del document["target"]
    return document
