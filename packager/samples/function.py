"""Samples from a user's function, `module:function`, which yields one dict of arrays per sample."""

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from packager.core.errors import ConfigError
from packager.core.user_functions import found, users_code
from packager.samples.sample import Arrays, Unread

HINT = "write a function without arguments that yields one dict of input name to numpy array for each sample"
ENDLESS = 10_000
"""limit of samples from a function without a requested limit, which may never end"""


def unread(text: str, folder: Path, *, is_limited: bool) -> Iterator[Unread]:
    """The function's samples, in order; its module is looked for in `folder` first. Raises ConfigError when it
    fails."""
    given = _called(text, folder)
    number = 0
    while True:
        with users_code(f"{text} fails at sample {number}", folder, HINT):
            try:
                item = next(given)
            except StopIteration:
                return
        if number >= ENDLESS and not is_limited:
            raise ConfigError(f"{text} yielded {ENDLESS} samples and did not end", hint="set a limit of samples")
        yield Unread(label=f"{text}[{number}]", read=partial(_arrays, item, f"{text}: sample {number}", folder))
        number += 1


def _called(text: str, folder: Path) -> Iterator[Any]:
    function = found(text, folder, text, HINT)
    with users_code(f"{text} fails", folder, HINT):
        given = function()
    if isinstance(given, Mapping | str | bytes) or not isinstance(given, Iterable):
        raise ConfigError(f"{text} returns {_kind(given)}, not samples", hint=HINT)
    with users_code(f"{text} fails", folder, HINT):
        return iter(given)


def _arrays(item: Any, where: str, folder: Path) -> Arrays:
    import numpy

    if not isinstance(item, Mapping):
        raise ConfigError(f"{where} is {_kind(item)}, not a dict", hint=HINT)
    with users_code(f"{where} is not a dict of arrays", folder, HINT):
        return {str(name): _copied(numpy.asarray(value)) for name, value in item.items()}


def _copied(array: Any) -> Any:
    """A copy, because functions may reuse their buffers; texts as strings, not as objects."""
    if array.dtype.kind == "O":
        if not all(isinstance(each, str) for each in array.flat):
            raise TypeError("Python objects instead of numbers")
        return array.astype(str)
    return array.copy()


def _kind(value: object) -> str:
    return "None" if value is None else f"a {type(value).__name__}"
