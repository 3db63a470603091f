"""keras: models that Keras has saved, `.keras` and `.h5`, through TensorFlow and tf2onnx."""

import re
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from packager.core.errors import ConfigError, ModelError
from packager.engines.environments.framework import Framework
from packager.importers import tensorflow_graphs
from packager.importers.importer import Arrays, Converted, ImportSource, Input, dimensions

SUFFIXES = (".keras", ".h5", ".hdf5")
SIGNATURES = {".keras": (b"PK\x03\x04",), ".h5": (b"\x89HDF",), ".hdf5": (b"\x89HDF",)}
UNKNOWN = re.compile(r"(?:Could not locate (?:class|function)|Unknown (?:layer|object|\w+ function)):? '?(\w+)'?")
"""Keras' errors for parts that are not its own"""


@dataclass(frozen=True, kw_only=True)
class Keras:
    NAME: ClassVar[str] = "keras"
    FRAMEWORK: ClassVar[str] = "Keras"
    SOURCES: ClassVar[str] = "`.keras`, `.h5`"
    ENVIRONMENT: ClassVar[Framework | None] = tensorflow_graphs.ENVIRONMENT
    RUNS_CODE: ClassVar[bool] = False

    def reads(self, source: ImportSource) -> bool:
        return source.path.suffix in SUFFIXES

    def load(self, source: ImportSource) -> "KerasModel":
        refuse_other_content(source.path)
        import keras

        try:
            model = keras.models.load_model(source.path, compile=False, safe_mode=True)
        except (OSError, TypeError, ValueError, KeyError) as error:
            raise _refusal(source.path, error) from error
        if not getattr(model, "inputs", None):
            raise ModelError(
                f"{source.text}: the model does not know its inputs: it was saved before it was built",
                hint="call it once, or model.build(shape), then save it again",
            )
        return KerasModel(model=model)


def refuse_other_content(path: Path) -> None:
    """Raises ModelError for a file that does not begin as its suffix promises, ConfigError for another suffix."""
    if path.suffix not in SUFFIXES:
        raise ConfigError(
            f"{path.name}: Keras reads {', '.join(SUFFIXES)} alone", hint="give it the suffix it should have"
        )
    with path.open("rb") as file:
        start = file.read(4)
    if start not in SIGNATURES[path.suffix] or (path.suffix == ".keras" and not zipfile.is_zipfile(path)):
        raise ModelError(
            f"{path.name}: not a whole {path.suffix} file", hint="it is damaged or has the wrong name: save again"
        )


def _refusal(path: Path, error: Exception) -> ModelError:
    text = str(error)
    if "lambda" in text.lower() and "safe_mode" in text:
        return ModelError(
            f"{path.name} contains Python code (a Lambda layer), which is not run",
            hint="replace the Lambda layer with keras.ops or a layer of Keras, then save again",
        )
    if "No model config" in text:
        return ModelError(
            f"{path.name} has only weights, without the model that they belong to",
            hint="in your code, make the model, call model.load_weights(file) and model.save('model.keras'), "
            "and import what that saves",
        )
    if found := UNKNOWN.search(text):
        return ModelError(
            f"{path.name} has a part that is not in Keras, and its code is not in the file: {found[1]}",
            hint='in your code, load it and call model.export("folder"); then import that folder, a SavedModel',
        )
    first = text.strip().splitlines()[0] if text.strip() else type(error).__name__
    return ModelError(f"Keras cannot load {path.name}: {first}", hint="it may be damaged: save it again")


@dataclass(frozen=True, kw_only=True)
class KerasModel:
    model: Any

    @property
    def made_with(self) -> str:
        import keras

        return f"Keras {keras.__version__}"

    @property
    def inputs(self) -> tuple[Input, ...]:
        names = self._input_names()
        return tuple(
            Input(name=name, dtype=str(each.dtype), shape=dimensions(name, each.shape))
            for name, each in zip(names, self.model.inputs, strict=True)
        )

    def run(self, inputs: Arrays) -> Arrays:
        return {name: each.numpy() for name, each in self._called(inputs).items()}

    def convert(self, path: Path) -> Converted:
        specs = [(each.name, each.dtype, each.shape) for each in self.inputs]
        return tensorflow_graphs.converted(self._called, specs, path)

    def _called(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """The outputs for `inputs`, arrays or symbolic tensors, by name."""
        structure = self.model._inputs_struct if hasattr(self.model, "_inputs_struct") else None
        values: Any = list(inputs.values())
        if isinstance(structure, dict):
            values = dict(zip(sorted(structure), inputs.values(), strict=True))
        elif len(values) == 1:
            values = values[0]
        return tensorflow_graphs.named(self.model(values, training=False), self._output_names())

    def _output_names(self) -> list[str]:
        """Names of the output layers, if somebody has chosen one: Keras' own are `dense_3` and the like."""
        names = list(getattr(self.model, "output_names", ()))
        is_chosen = [not re.fullmatch(rf"{kind_of(self.model.get_layer(name))}(_\d+)?", name) for name in names]
        return names if any(is_chosen) else tensorflow_graphs.unnamed(len(names))

    def _input_names(self) -> list[str]:
        """Names of the inputs; `keras_tensor_7` and the like, which nobody has chosen, become `input`."""
        structure = getattr(self.model, "_inputs_struct", None)
        names = sorted(structure) if isinstance(structure, dict) else [each.name for each in self.model.inputs]
        return tensorflow_graphs.readable(names)


def kind_of(layer: Any) -> str:
    """The name that Keras makes up for a layer: `LayerNormalization` -> `layer_normalization`."""
    spaced = re.sub(r"(.)([A-Z][a-z0-9]+)", r"\1_\2", type(layer).__name__)
    return re.sub(r"([a-z])([A-Z])", r"\1_\2", spaced).lower()
