"""Describes a failure of the user's factory or module by the user's own lines, without PyTorch's."""

import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from packager.core.errors import ConfigError
from packager.core.user_functions import users_code

SHOWN = 5
"""largest number of the user's lines shown; the innermost ones"""
PACKAGE = Path(__file__).parents[2]


@contextmanager
def users_module(what: str, folder: Path, hint: str) -> Iterator[None]:
    """Like `users_code`, but shows all of the user's lines of the traceback instead of the last."""
    try:
        with users_code(what, folder, hint):
            yield
    except ConfigError as error:
        if error.__cause__ is None:
            raise
        raise ConfigError(f"{what}: {described(error.__cause__, folder)}", hint=error.hint) from error.__cause__


def described(error: BaseException, folder: Path) -> str:
    """The last line of a traceback, followed by the user's own lines."""
    last = traceback.format_exception_only(error)[-1].strip()
    return "\n".join([last, *own_lines(error, folder)])


def own_lines(error: BaseException, folder: Path) -> list[str]:
    """`  nets.py, line 12, in forward: code` for each of the user's files in the traceback."""
    if isinstance(error, SyntaxError) and error.filename:
        return [f"  {_short(error.filename, folder)}, line {error.lineno}: {(error.text or '').strip()}"]
    return frames(traceback.extract_tb(error.__traceback__), folder)


def frames(stack: traceback.StackSummary, folder: Path) -> list[str]:
    """The lines of `stack` in the user's files, the innermost last."""
    own = [each for each in stack if is_own(each.filename, folder)]
    return [f"  {_short(each.filename, folder)}, line {each.lineno}, in {each.name}: {each.line}" for each in own][
        -SHOWN:
    ]


def is_own(filename: str, folder: Path) -> bool:
    """Whether a file is the user's: below `folder`, neither an installed package nor part of mobpack."""
    path = Path(filename)
    if not path.is_relative_to(folder) or path.is_relative_to(PACKAGE):
        return False
    return "site-packages" not in path.relative_to(folder).parts


def _short(filename: str, folder: Path) -> str:
    path = Path(filename)
    return str(path.relative_to(folder)) if path.is_relative_to(folder) else filename
