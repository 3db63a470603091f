"""Metrics of the user's own: `module:function`, which gets the model as a function and returns a number."""

import math
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

from packager.core.user_functions import users_code
from packager.quantization.measurement.predicting import Predict

HINT = "write a function that takes predict, calls predict(inputs) or predict.app(inputs), and returns a number"


def measured(function: Callable[[Predict], Any], text: str, predict: Predict, folder: Path) -> float:
    """The score that `function` gives the model behind `predict`; minus infinity for NaN, which is worse than any
    number.

    Random numbers are seeded again for every model: scores must not depend on earlier measurements.
    """
    import numpy

    random.seed(0)
    numpy.random.seed(0)
    with users_code(f"metric {text} fails", folder, HINT):
        given = function(predict)
    with users_code(f"metric {text} gives {type(given).__name__}, not a number", folder, HINT):
        value = float(given)
    return -math.inf if math.isnan(value) else value
