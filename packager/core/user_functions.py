"""Finds functions of the user's own, named `module:function`, and reports where they fail."""

import importlib
import importlib.util
import re
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager, redirect_stdout
from pathlib import Path
from typing import Any

from packager.core.errors import ConfigError, MobpackError, nearest

FUNCTION = re.compile(r"[^\W\d][\w.]*:[^\W\d]\w*")
"""`package.module:function`"""
NOT_THE_USERS = (__file__, "<frozen importlib._bootstrap>", "<frozen importlib._bootstrap_external>")
"""Frames that a traceback contains besides the user's: this file, and Python's own import."""


def is_function(text: str) -> bool:
    """Whether `text` names a Python function."""
    return FUNCTION.fullmatch(text) is not None


@contextmanager
def users_code(what: str, folder: Path, hint: str) -> Iterator[None]:
    """Runs the user's code in its project: `folder` is the working folder, so that the code opens the files beside it,
    and is first on the module path. Any exception but our own becomes a ConfigError that names the place, with the
    traceback as its cause; output goes to stderr, because stdout belongs to results.

    Both end with the code: programs that mobpack starts find no module of the project."""
    folder = folder.absolute()
    sys.path.insert(0, str(folder))
    try:
        with redirect_stdout(sys.stderr), chdir(folder):
            yield
    except MobpackError:
        raise
    except (Exception, SystemExit) as error:
        last = traceback.format_exception_only(error)[-1].strip()
        is_missing = isinstance(error, FileNotFoundError)
        where = f"the code runs in {folder}: put the file there, or name it by its whole path"
        raise ConfigError(f"{what}: {last}{_place(error, folder)}", hint=where if is_missing else hint) from error
    finally:
        if str(folder) in sys.path:
            sys.path.remove(str(folder))


def found(text: str, folder: Path, what: str, hint: str) -> Callable[..., Any]:
    """The function `text`, called `what` in errors; its module is looked for in `folder` first. Raises ConfigError."""
    module_name, _, name = text.partition(":")
    with users_code(f"{what} cannot be imported", folder, hint):
        importlib.invalidate_caches()
        is_there = importlib.util.find_spec(module_name) is not None
        module = importlib.import_module(module_name) if is_there else None
    if module is None:
        raise ConfigError(
            f"{what}: no module '{module_name}' in {folder}, and none is installed",
            hint="check the name, or start mobpack in the folder of the module",
        )
    function = getattr(module, name, None)
    if not callable(function):
        known = [key for key, value in vars(module).items() if callable(value) and not key.startswith("_")]
        where = getattr(module, "__file__", None) or "built into Python"
        raise ConfigError(f"{what}: no function '{name}' in '{module_name}' ({where})", hint=nearest(name, known))
    return function  # type: ignore[no-any-return]


def _place(error: BaseException, folder: Path) -> str:
    """The innermost line in the user's own files, or else outside this one, in words."""
    if isinstance(error, SyntaxError) and error.filename:
        return f" ({error.filename}, line {error.lineno})"
    frames = [each for each in traceback.extract_tb(error.__traceback__) if each.filename not in NOT_THE_USERS]
    own = [each for each in frames if Path(each.filename).is_relative_to(folder)]
    return f" ({(own or frames)[-1].filename}, line {(own or frames)[-1].lineno})" if frames else ""
