"""Metrics of the user's own: `module:function`, which is given the model as a function and returns a number."""

import importlib
import importlib.util
import math
import random
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from packager.errors import ConfigError, MobpackError, nearest
from packager.measurement.running import run

if TYPE_CHECKING:
    from numpy.typing import NDArray

HINT = "write a function that takes predict(inputs) -> outputs, dicts of arrays by name, and returns a number"

Predict = Callable[[Mapping[str, Any]], dict[str, Any]]


def found(text: str, folder: Path) -> Callable[[Predict], Any]:
    """The function `text`, whose module is looked for in `folder` first. Raises ConfigError."""
    module_name, _, name = text.partition(":")
    sys.path.insert(0, str(folder))  # for good: this process has no other task
    with _users_code(f"metric {text} cannot be imported", folder):
        is_there = importlib.util.find_spec(module_name) is not None
        module = importlib.import_module(module_name) if is_there else None
    if module is None:
        raise ConfigError(
            f"metric {text}: no module '{module_name}' in {folder}, and none is installed",
            hint="check the name, or start mobpack in the folder of the module",
        )
    function = getattr(module, name, None)
    if not callable(function):
        known = [key for key, value in vars(module).items() if callable(value) and not key.startswith("_")]
        raise ConfigError(f"metric {text}: no function '{name}' in '{module_name}'", hint=nearest(name, known))
    return function  # type: ignore[no-any-return]


def measured(function: Callable[[Predict], Any], text: str, session: Any, folder: Path) -> float:
    """What `function` says of the model in `session`; minus infinity for NaN, which is worse than any number.

    Random numbers start anew for every model: scores must not depend on what was measured before.
    """
    import numpy

    random.seed(0)
    numpy.random.seed(0)
    with _users_code(f"metric {text} fails", folder):
        given = function(predictor(session))
    with _users_code(f"metric {text} gives {type(given).__name__}, not a number", folder):
        value = float(given)
    return -math.inf if math.isnan(value) else value


def predictor(session: Any) -> Predict:
    """What runs the model in `session`: inputs by name -> outputs by name."""
    names = [output.name for output in session.get_outputs()]

    def predict(inputs: "Mapping[str, NDArray[Any]]") -> "dict[str, NDArray[Any]]":
        return dict(zip(names, run(session, names, inputs), strict=True))

    return predict


@contextmanager
def _users_code(what: str, folder: Path) -> Iterator[None]:
    """Whatever is raised within, but our own errors, is a ConfigError that says where, with the traceback behind it."""
    try:
        yield
    except MobpackError:
        raise
    except (Exception, SystemExit) as error:
        last = traceback.format_exception_only(error)[-1].strip()
        raise ConfigError(f"{what}: {last}{_place(error, folder)}", hint=HINT) from error


def _place(error: BaseException, folder: Path) -> str:
    """The innermost line of the user's own files, in words."""
    if isinstance(error, SyntaxError) and error.filename:
        return f" ({error.filename}, line {error.lineno})"
    frames = [each for each in traceback.extract_tb(error.__traceback__) if each.filename != __file__]
    own = [each for each in frames if Path(each.filename).is_relative_to(folder)]
    return f" ({(own or frames)[-1].filename}, line {(own or frames)[-1].lineno})" if frames else ""
