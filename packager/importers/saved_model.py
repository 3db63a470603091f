"""saved-model: folders that TensorFlow has saved, through tf2onnx."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from packager.core.errors import ConfigError, ModelError
from packager.engines.environments.framework import Framework
from packager.importers import tensorflow_graphs
from packager.importers.importer import Arrays, Converted, ImportSource, Input, dimensions

FILE = "saved_model.pb"
SIGNATURE = "serving_default"
ACTS = frozenset(("ReadFile", "WriteFile", "WriteSummary"))
"""operators that read and write files of their own choice, as early as the model is loaded"""


@dataclass(frozen=True, kw_only=True)
class SavedModel:
    NAME: ClassVar[str] = "saved-model"
    FRAMEWORK: ClassVar[str] = "TensorFlow"
    SOURCES: ClassVar[str] = "TensorFlow's SavedModel folders"
    ENVIRONMENT: ClassVar[Framework | None] = tensorflow_graphs.ENVIRONMENT
    RUNS_CODE: ClassVar[bool] = False

    def reads(self, source: ImportSource) -> bool:
        return (source.path / FILE).is_file()

    def load(self, source: ImportSource) -> "SavedSignature":
        if not (source.path / FILE).is_file():
            raise ModelError(f"{source.text}: no {FILE} in it", hint="give the folder that model.export has written")
        refuse_acting(source)
        import tensorflow

        try:
            loaded = tensorflow.saved_model.load(str(source.path))
        except (OSError, ValueError, KeyError, tensorflow.errors.OpError) as error:
            first = str(error).strip().splitlines()[0]
            raise ModelError(f"TensorFlow cannot load {source.text}: {first}", hint="save the model again") from error
        known = dict(loaded.signatures)
        if SIGNATURE not in known and len(known) != 1:
            raise ConfigError(
                f"{source.text} has no signature {SIGNATURE}; it has {', '.join(sorted(known)) or 'none'}",
                hint="in Keras: model.export(folder); else tf.saved_model.save(module, folder, signatures=function)",
            )
        return SavedSignature(owner=loaded, function=known.get(SIGNATURE) or next(iter(known.values())))


def refuse_acting(source: ImportSource) -> None:
    """Raises ModelError for a graph that does more than compute."""
    from google.protobuf.message import DecodeError
    from tensorflow.core.protobuf.saved_model_pb2 import SavedModel as Proto

    proto = Proto()
    try:
        proto.ParseFromString((source.path / FILE).read_bytes())
    except DecodeError as error:
        raise ModelError(f"{source.text}: {FILE} is damaged", hint="save the model again") from error
    if not proto.meta_graphs:
        raise ModelError(f"{source.text}: {FILE} has no graph in it", hint="save the model again")
    found = sorted({node.op for node in _nodes(proto)} & ACTS)
    if found:
        raise ModelError(
            f"{source.text} uses files: {', '.join(found)}",
            hint="export the part of the model that computes, without reading and writing",
        )


def _nodes(proto: Any) -> Iterator[Any]:
    for graph in proto.meta_graphs:
        yield from graph.graph_def.node
        for function in graph.graph_def.library.function:
            yield from function.node_def


@dataclass(frozen=True, kw_only=True)
class SavedSignature:
    owner: Any
    """the loaded model, which keeps the variables"""
    function: Any

    @property
    def made_with(self) -> str:
        import tensorflow

        return f"TensorFlow {tensorflow.__version__}"

    @property
    def inputs(self) -> tuple[Input, ...]:
        return tuple(
            Input(
                name=given,
                dtype=spec.dtype.name,
                shape=dimensions(given, shape_of(name, spec)),
            )
            for given, (name, spec) in self._specs().items()
        )

    def run(self, inputs: Arrays) -> Arrays:
        import tensorflow

        return {
            name: value.numpy()
            for name, value in self._called({name: tensorflow.constant(each) for name, each in inputs.items()}).items()
        }

    def convert(self, path: Path) -> Converted:
        specs = [(each.name, each.dtype, each.shape) for each in self.inputs]
        return tensorflow_graphs.converted(self._called, specs, path)

    def _called(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        names = {given: name for given, (name, _) in self._specs().items()}
        found = self.function(**{names[given]: value for given, value in inputs.items()})
        keys = sorted(found)
        return dict(zip(tensorflow_graphs.readable_outputs(keys), (found[key] for key in keys), strict=True))

    def _specs(self) -> dict[str, tuple[str, Any]]:
        """Given name -> the signature's own name, and type and shape."""
        own = self.function.structured_input_signature[1]
        names = sorted(own)
        return {given: (name, own[name]) for given, name in zip(tensorflow_graphs.readable(names), names, strict=True)}


def shape_of(name: str, spec: Any) -> list[int | None]:
    """Raises ModelError for an input without a number of dimensions."""
    if spec.shape.rank is None:
        raise ModelError(f"input '{name}' has no shape", hint="save the model with a signature that has shapes")
    return list(spec.shape)
