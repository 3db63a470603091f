"""Samples of models that take texts: code points, as apps pass them."""

from collections.abc import Sequence
from pathlib import Path

from packager.core.contract import TextInput
from packager.core.errors import ConfigError
from packager.core.values import Model
from packager.samples.sample import SampleSet, write_arrays


def taken_texts(model: Model) -> tuple[TextInput, ...]:
    """The texts that an app passes to `model`; none if it passes anything else, too."""
    parameters = model.contract.parameters if model.contract else ()
    found = tuple(each for each in parameters if isinstance(each, TextInput))
    return found if len(found) == len(parameters) else ()


def sample_of(model: Model, texts: Sequence[str], folder: Path) -> SampleSet:
    """One sample of `texts`, one for each input of the model, written below `folder`. Raises ConfigError for another
    number of texts, or a model that carries states."""
    import numpy

    inputs = taken_texts(model)
    if len(texts) != len(inputs) or len(inputs) != len(model.signature.inputs):
        wanted = ", ".join(each.identifier for each in inputs)
        raise ConfigError(f"{len(texts)} texts for a model that takes {wanted}", hint="pass as many texts as it takes")
    path = folder / "text.npz"
    points = [numpy.array([ord(each) for each in text] or [-1], numpy.int32) for text in texts]
    write_arrays(path, {each.code_points.name: array for each, array in zip(inputs, points, strict=True)})
    return SampleSet(paths=(path,), description="1 text")
