"""The part of a contract that turns what apps pass into the inputs of a model, as a model of its own."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from packager import models
from packager.contract import CarriedInput, InputKind
from packager.contract.attachment import Attached, Tables, attach
from packager.core.values import Model, TensorSpec

if TYPE_CHECKING:
    from onnx import ModelProto

PREPARED = "prepared/"
"""prefix of the outputs: the names of the inputs that they are for"""


def preparation(model: Model, inputs: Mapping[str, InputKind]) -> Model:
    """A model that takes what apps pass and gives every input of `model`, states aside, in the order of its inputs.

    Raises ConfigError for kinds that do not fit the inputs, as `attach` does.
    """
    import onnx

    proto = onnx.ModelProto.FromString(model.graph)
    _hand_on(proto, [spec for spec in model.signature.inputs if not isinstance(inputs.get(spec.name), CarriedInput)])
    known = {name: kind for name, kind in inputs.items() if not isinstance(kind, CarriedInput)}
    attached: Attached = attach(models.rebuilt(model, proto), Tables(inputs=known, outputs={}))
    return attached.model


def prepared_names(model: Model) -> tuple[str, ...]:
    """Inputs of the first model that each output of a `preparation` is for."""
    return tuple(spec.name.removeprefix(PREPARED) for spec in model.signature.outputs)


def _hand_on(proto: "ModelProto", specs: list[TensorSpec]) -> None:
    """Replaces the graph by one that gives its inputs as its outputs."""
    from onnx import helper

    graph = proto.graph
    inputs = [value for value in graph.input if value.name in {spec.name for spec in specs}]
    copies = [type(value).FromString(value.SerializeToString()) for value in inputs]
    for field in (graph.node, graph.initializer, graph.sparse_initializer, graph.value_info, graph.input, graph.output):
        del field[:]
    del proto.functions[:]
    graph.input.extend(copies)
    for value in copies:
        after = type(value).FromString(value.SerializeToString())
        after.name = f"{PREPARED}{value.name}"
        graph.output.append(after)
        graph.node.append(helper.make_node("Identity", [value.name], [after.name]))
