"""Metrics of the user's own: `module:function`, which gets the model as a function and returns a number."""

import math
import random
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from packager.core.user_functions import users_code
from packager.quantization.measurement.running import run

if TYPE_CHECKING:
    from numpy.typing import NDArray

HINT = "write a function that takes predict(inputs) -> outputs, dicts of arrays by name, and returns a number"

Predict = Callable[[Mapping[str, Any]], dict[str, Any]]


def measured(function: Callable[[Predict], Any], text: str, session: Any, folder: Path) -> float:
    """The score that `function` gives the model in `session`; minus infinity for NaN, which is worse than any number.

    Random numbers are seeded again for every model: scores must not depend on earlier measurements.
    """
    import numpy

    random.seed(0)
    numpy.random.seed(0)
    with users_code(f"metric {text} fails", folder, HINT):
        given = function(predictor(session))
    with users_code(f"metric {text} gives {type(given).__name__}, not a number", folder, HINT):
        value = float(given)
    return -math.inf if math.isnan(value) else value


def predictor(session: Any) -> Predict:
    """A function that runs the model in `session`: inputs by name -> outputs by name."""
    names = [output.name for output in session.get_outputs()]

    def predict(inputs: "Mapping[str, NDArray[Any]]") -> "dict[str, NDArray[Any]]":
        return dict(zip(names, run(session, names, inputs), strict=True))

    return predict
