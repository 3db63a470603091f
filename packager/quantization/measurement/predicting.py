"""The function that a metric of the user's calls: it runs a model on tensors, or as an app does."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from packager.contract.results import Answer, answer
from packager.core.contract import AudioInput, Contract, ImageInput, TensorInput, TextInput
from packager.core.errors import ConfigError
from packager.core.signature import Signature
from packager.graph import traversal
from packager.graph.connections import indexed
from packager.quantization.measurement.running import run
from packager.samples.fit import DTYPES
from packager.samples.raw import picture, pixels_of, sound
from packager.samples.texts import code_points

if TYPE_CHECKING:
    from numpy.typing import NDArray

AUDIO_HINT = "pass the path of a .wav file, or a pair: float32 [frames, channels] from -1 to 1, and the rate in Hz"


@dataclass(frozen=True)
class Predict:
    """Runs the measured graph: `predict(inputs)` on tensors of the model's own, `predict.app(inputs)` on what apps
    pass."""

    session: Any
    graph: bytes
    """that `session` has opened"""
    opened: Callable[[bytes], Any]
    """opens another graph beside it"""
    contract: Contract | None = None

    def __call__(self, inputs: "Mapping[str, NDArray[Any]]") -> "dict[str, NDArray[Any]]":
        """The model's own outputs for its own inputs, by name: those of the file, whatever apps pass."""
        given = {value.name for value in self.session.get_inputs()}
        own = self.contract.own if self.contract else None
        if own is None or set(inputs) == given:
            return self._run(self.session, inputs)
        return self._run(self._core, inputs)

    def app(self, inputs: Mapping[str, Any]) -> dict[str, Answer]:
        """Results of an app for the values that it passes, by name: a picture's path or uint8 [height, width,
        channels], the path of a .wav file or (samples, rate in Hz), a text, an array for a tensor. They are those of
        `mobpack predict`.

        Raises ConfigError for a model without a contract, or inputs that do not fit it.
        """
        contract = self.contract
        if contract is None:
            raise ConfigError(
                "predict.app needs a model with a contract",
                hint="describe inputs and outputs in mobpack.toml, and use the metric in a variant; or call "
                "predict(inputs) with the model's own tensors",
            )
        known = {each.identifier: each for each in contract.parameters}
        if set(inputs) != set(known) or contract.generated:
            wanted = "no text that is generated step by step" if contract.generated else ", ".join(known)
            raise ConfigError(
                f"predict.app takes {wanted}; got {', '.join(inputs) or 'nothing'}", hint="use these names"
            )
        feeds: dict[str, Any] = {}
        for name, each in known.items():
            feeds |= _tensors(each, inputs[name])
        for state in contract.states:
            feeds |= _zeros(state.input.name, state.first_shape, DTYPES[state.input.element])
        outputs = self._run(self.session, feeds)
        return {each.identifier: answer(each, outputs, inputs=feeds) for each in contract.outputs}

    @cached_property
    def _core(self) -> Any:
        assert self.contract
        assert self.contract.own
        return self.opened(core_of(self.graph, self.contract.own))

    @staticmethod
    def _run(session: Any, inputs: "Mapping[str, NDArray[Any]]") -> "dict[str, NDArray[Any]]":
        names = [output.name for output in session.get_outputs()]
        return dict(zip(names, run(session, names, inputs), strict=True))


def core_of(graph: bytes, own: Signature) -> bytes:
    """The part of `graph` between the inputs and the outputs of the model inside it. Raises ConfigError if a rewrite
    has removed one of them."""
    import onnx
    from onnx import TensorProto, helper

    proto = onnx.ModelProto.FromString(graph)
    nodes = list(proto.graph.node)
    inputs, outputs = ({spec.name: spec for spec in specs} for specs in (own.inputs, own.outputs))
    connections = indexed(nodes)
    found = connections.ancestors([name for name in outputs if name not in inputs], lambda name: name not in inputs)
    kept = [nodes[index] for index in sorted(found)]
    made = {name for node in kept for name in node.output}
    taken = {name for node in kept for name in traversal.taken_by(node)}
    if set(outputs) - made:
        missing = ", ".join(sorted(set(outputs) - made))
        raise ConfigError(
            f"the measured graph has no value of its own for {missing}", hint="use predict.app, which needs none"
        )
    for field, specs in ((proto.graph.input, inputs), (proto.graph.output, outputs)):
        del field[:]
        for spec in specs.values():
            element = TensorProto.DataType.Value(spec.element.value.upper())
            field.append(helper.make_tensor_value_info(spec.name, element, list(spec.shape)))
    tensors = [tensor for tensor in proto.graph.initializer if tensor.name in taken and tensor.name not in inputs]
    copies = [type(each).FromString(each.SerializeToString()) for each in (*kept, *tensors)]
    for values in (proto.graph.node, proto.graph.initializer, proto.graph.value_info):
        del values[:]
    proto.graph.node.extend(copies[: len(kept)])
    proto.graph.initializer.extend(copies[len(kept) :])
    return bytes(proto.SerializeToString(deterministic=True))


def _tensors(parameter: ImageInput | AudioInput | TextInput | TensorInput, value: Any) -> dict[str, Any]:
    """Values of the tensors that one parameter of an app becomes."""
    import numpy

    match parameter:
        case ImageInput():
            made = picture(Path(value)) if isinstance(value, str | Path) else pixels_of(numpy.asarray(value))
            specs = parameter.pixels, parameter.channels, parameter.orientation, parameter.chroma, parameter.conversion
            return {spec.name: array for spec, array in zip(specs, made, strict=True)}
        case AudioInput():
            samples, rate = _recording(parameter, value)
            place = {parameter.place.name: numpy.zeros(3, numpy.int64)} if parameter.place else {}
            return {parameter.samples.name: samples, parameter.rate.name: rate, **place}
        case TextInput():
            texts = [value] if isinstance(value, str) else list(value)
            return {parameter.code_points.name: code_points(texts)}
        case TensorInput(spec=spec):
            return {spec.name: numpy.asarray(value, DTYPES[spec.element])}


def _recording(parameter: AudioInput, value: Any) -> "tuple[NDArray[Any], NDArray[Any]]":
    import numpy

    element = parameter.samples.element
    if isinstance(value, str | Path):
        return sound(Path(value), element)
    if not isinstance(value, tuple) or len(value) != 2:
        raise ConfigError(f"predict.app: '{parameter.identifier}' is not a recording", hint=AUDIO_HINT)
    samples = numpy.asarray(value[0], DTYPES[element])
    return samples.reshape(len(samples), -1), numpy.array(value[1], numpy.int64)


def _zeros(name: str, shape: tuple[int, ...], dtype: str) -> "dict[str, NDArray[Any]]":
    import numpy

    return {name: numpy.zeros(shape, dtype)}
