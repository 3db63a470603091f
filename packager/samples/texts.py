"""Samples of models that take texts: code points, as apps pass them."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from packager.core.contract import BETWEEN, TextInput
from packager.core.errors import ConfigError
from packager.core.values import Model
from packager.samples.sample import SampleSet, write_arrays

if TYPE_CHECKING:
    import numpy


def taken_texts(model: Model) -> tuple[TextInput, ...]:
    """The texts that an app passes to `model`; none if it passes anything else, too."""
    parameters = model.contract.parameters if model.contract else ()
    found = tuple(each for each in parameters if isinstance(each, TextInput))
    return found if len(found) == len(parameters) else ()


def sample_of(model: Model, texts: Sequence[str], folder: Path) -> SampleSet:
    """One sample of `texts`, one for each input of the model, written below `folder`. Raises ConfigError for another
    number of texts, or a model that carries states."""
    return batch_of(model, [texts], folder)


def batch_of(model: Model, rows: Sequence[Sequence[str]], folder: Path) -> SampleSet:
    """One sample of a run with `rows`, each with one text for each input of the model. Raises ConfigError as
    `sample_of` does."""
    inputs = taken_texts(model)
    for texts in rows:
        if len(texts) != len(inputs) or len(inputs) != len(model.signature.inputs):
            wanted = ", ".join(each.identifier for each in inputs)
            hint = "pass as many texts as it takes"
            raise ConfigError(f"{len(texts)} texts for a model that takes {wanted}", hint=hint)
    path = folder / "text.npz"
    points = map(code_points, zip(*rows, strict=True))
    write_arrays(path, {each.code_points.name: array for each, array in zip(inputs, points, strict=True)})
    return SampleSet(paths=(path,), description="1 text" if len(rows) == 1 else f"{len(rows)} texts")


def code_points(texts: Sequence[str]) -> "numpy.ndarray":
    """int32: the code points of `texts`, as a TextInput has them."""
    import numpy

    found = [point for text in texts for point in (BETWEEN, *map(ord, text))][1:]
    return numpy.array(found or [-1], numpy.int32)
