"""Samples that a function of the user's makes: `module:function`, which gives a dict of arrays for each."""

import importlib
import importlib.util
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from functools import partial
from pathlib import Path
from typing import Any

from packager.errors import ConfigError, nearest
from packager.samples.sample import Arrays, Unread

HINT = "write a function without arguments that yields one dict of input name to numpy array for each sample"
ENDLESS = 10_000
"""A function that gives more samples than this, and was not limited, is taken for one that never ends."""

FROZEN = ("<frozen importlib._bootstrap>", "<frozen importlib._bootstrap_external>")
"""How tracebacks name Python's own import."""


def unread(text: str, folder: Path, *, is_limited: bool) -> Iterator[Unread]:
    """What the function gives, in order; its module is looked for in `folder` first. ConfigError when it fails."""
    given = _called(text, folder)
    number = 0
    while True:
        with _users_code(f"{text} fails at sample {number}", folder):
            try:
                item = next(given)
            except StopIteration:
                return
        if number >= ENDLESS and not is_limited:
            raise ConfigError(f"{text} gave {ENDLESS} samples and goes on", hint="limit how many are taken")
        yield Unread(label=f"{text}[{number}]", read=partial(_arrays, item, f"{text}: sample {number}", folder))
        number += 1


@contextmanager
def _users_code(what: str, folder: Path) -> Iterator[None]:
    """Runs with `folder` in front of the places of modules. Whatever it raises is a ConfigError that says where in it,
    with the traceback behind it; what it prints goes to stderr, since stdout belongs to results."""
    sys.path.insert(0, str(folder))
    try:
        with redirect_stdout(sys.stderr):
            yield
    except (Exception, SystemExit) as error:
        last = traceback.format_exception_only(error)[-1].strip()
        raise ConfigError(f"{what}: {last}{_place(error, folder)}", hint=HINT) from error
    finally:
        if str(folder) in sys.path:
            sys.path.remove(str(folder))


def _place(error: BaseException, folder: Path) -> str:
    """The innermost line of the user's own files, or else of anything but this one."""
    if isinstance(error, SyntaxError) and error.filename:
        return f" ({error.filename}, line {error.lineno})"
    frames = [each for each in traceback.extract_tb(error.__traceback__) if each.filename not in (__file__, *FROZEN)]
    own = [each for each in frames if Path(each.filename).is_relative_to(folder)]
    return f" ({(own or frames)[-1].filename}, line {(own or frames)[-1].lineno})" if frames else ""


def _called(text: str, folder: Path) -> Iterator[Any]:
    function = _found(text, folder)
    with _users_code(f"{text} fails", folder):
        given = function()
    if isinstance(given, Mapping | str | bytes) or not isinstance(given, Iterable):
        raise ConfigError(f"{text} gives {_kind(given)}, not samples", hint=HINT)
    with _users_code(f"{text} fails", folder):
        return iter(given)


def _found(text: str, folder: Path) -> Callable[[], Any]:
    module_name, _, name = text.partition(":")
    with _users_code(f"{text} cannot be imported", folder):
        importlib.invalidate_caches()
        is_there = importlib.util.find_spec(module_name) is not None
        module = importlib.import_module(module_name) if is_there else None
    if module is None:
        raise ConfigError(
            f"{text}: no module '{module_name}' in {folder}, and none is installed",
            hint="check the name, or start mobpack in the folder of the module",
        )
    function = getattr(module, name, None)
    if not callable(function):
        known = [key for key, value in vars(module).items() if callable(value) and not key.startswith("_")]
        where = getattr(module, "__file__", None) or "built into Python"
        raise ConfigError(f"{text}: no function '{name}' in '{module_name}' ({where})", hint=nearest(name, known))
    return function  # type: ignore[no-any-return]


def _arrays(item: Any, where: str, folder: Path) -> Arrays:
    import numpy

    if not isinstance(item, Mapping):
        raise ConfigError(f"{where} is {_kind(item)}, not a dict", hint=HINT)
    with _users_code(f"{where} is no dict of arrays", folder):
        return {str(name): _copied(numpy.asarray(value)) for name, value in item.items()}


def _copied(array: Any) -> Any:
    """A copy, since functions fill one buffer again and again; texts as texts, not as objects."""
    if array.dtype.kind == "O":
        if not all(isinstance(each, str) for each in array.flat):
            raise TypeError("Python objects instead of numbers")
        return array.astype(str)
    return array.copy()


def _kind(value: object) -> str:
    return "None" if value is None else f"a {type(value).__name__}"
