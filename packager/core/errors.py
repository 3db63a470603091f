"""Failures that a user can act on: one class and one exit code for each kind."""

import difflib
from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar

SHOWN = 24
"""Maximum number of names in a hint."""


class MobpackError(Exception):
    """A failure the user can fix. `message` says what is wrong and where, `hint` what to do next."""

    EXIT_CODE: ClassVar[int] = 1

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.document: Mapping[str, object] = {}
        """printed beside the error by a command with --json"""


def nearest(name: str, known: Iterable[str], *, cutoff: float = 0.6) -> str:
    """A hint for a `name` that is not in `known`: the closest match, or else all known names."""
    names = list(known)
    close = difflib.get_close_matches(name, names, n=1, cutoff=cutoff)
    if close:
        return f"did you mean '{close[0]}'?"
    return f"known: {first_of(names)}"


def first_of(names: Sequence[str], most: int = SHOWN) -> str:
    """The names; of more than `most` the first, and how many there are besides."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return f"{', '.join(names[:most])}{more}"


class ConfigError(MobpackError):
    """mobpack.toml or the command line asks for something that does not exist or does not fit."""

    EXIT_CODE = 2


class SettingError(ValueError):
    """A table of mobpack.toml rejects a value of its own. pydantic reports a ValueError with the key that it is about;
    `config` turns this one into a ConfigError with its hint."""

    def __init__(self, message: str, *, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


class ModelError(MobpackError):
    """The model cannot be read, or cannot ship as it is."""

    EXIT_CODE = 3


class ToolError(MobpackError):
    """Something that mobpack runs or writes to (a compiler, a disk, a package client) failed or is missing."""

    EXIT_CODE = 4


class ParityError(MobpackError):
    """The converted model does not compute what the original computes."""

    EXIT_CODE = 5


class GateError(MobpackError):
    """A provider takes less of a model than --fail-on requires, a variant is neither smaller nor faster than the model,
    or a release or its signature is not what it should be."""

    EXIT_CODE = 6


class UnprovenError(Exception):
    """A command failed while it used results that other machines have sent, and one of them may be why: the message
    says what failed, the cause is the error. Whoever runs the command does it again without them."""


class InternalError(MobpackError):
    """A bug in mobpack: any exception that reaches the top of the program and is none of the others."""

    EXIT_CODE = 70
