"""Adds the nodes for `[model.NAME.inputs]` and `[model.NAME.outputs]` to a model's graph, before and after the model.

The model itself is the core: its inputs get static shapes, its nodes stay unchanged. The added nodes are in the same
graph, so that every runtime, every check and every platform computes the same.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

from packager import models
from packager.contract import (
    INPUT_KINDS,
    OPSET,
    OUTPUT_KINDS,
    AttachedInput,
    AttachedOutput,
    Core,
    Expanding,
    InputKind,
    OutputKind,
    OutputTable,
    Sizes,
    Writer,
    Written,
)
from packager.core import names
from packager.core.contract import FUNCTIONS, AudioInput, Contract, StateInput, TensorInput, TextInput, TypedInput
from packager.core.errors import ConfigError, ModelError, nearest
from packager.core.values import Model, Signature, TensorSpec
from packager.graph import traversal
from packager.graph.rewriting.sinking import sink
from packager.models import raising

if TYPE_CHECKING:
    from onnx import GraphProto, NodeProto, ValueInfoProto

PLAIN = "tensor"
"""kind of an input or output without a table"""


@dataclass(frozen=True, kw_only=True)
class Tables:
    """Tables of mobpack.toml for a model's inputs and outputs, by name."""

    inputs: Mapping[str, InputKind]
    outputs: Mapping[str, OutputTable]

    @property
    def are_empty(self) -> bool:
        return not self.inputs and not self.outputs


@dataclass(frozen=True, kw_only=True)
class AttachedParts:
    """Nodes and tensors that the kinds added around a core."""

    inputs: Mapping[str, AttachedInput]
    """by the core's name"""
    outputs: Mapping[str, AttachedOutput]
    made: Mapping[str, tuple[TensorSpec, ...]]
    """inputs and outputs of the graph that kinds added, by the core's name"""
    written: Written
    added: list[TensorSpec] = field(default_factory=list)
    """inputs of the graph that outputs added"""

    @property
    def carried(self) -> frozenset[str]:
        """Outputs that are states."""
        found = (typed for each in self.inputs.values() for typed in each.typed)
        return frozenset(typed.output.name for typed in found if isinstance(typed, StateInput))


@dataclass(frozen=True, kw_only=True)
class Attached:
    """A model with its contract, and the intermediate models."""

    model: Model
    before: Model
    """the user's model, in the shapes that the contract requires"""
    core: Model
    """the same model in an opset that supports contracts; ONNX's converter may have rewritten it"""

    @property
    def is_raised(self) -> bool:
        return self.core.graph != self.before.graph


def attach(model: Model, tables: Tables) -> Attached:
    """`model` with its contract in the graph; unchanged without `tables`.

    Raises ConfigError that names the table for keys that do not fit the model, ModelError for a graph that cannot have
    a contract.
    """
    if tables.are_empty:
        return Attached(model=model, before=model, core=model)
    where = f"model.{model.name}"
    _refuse_unknown(tables, model.signature, where)
    tables = _expanded(tables, model.signature, where)
    before = _with_shapes(model, tables, where)
    core = raised(before)
    return Attached(model=_joined(core, _parts(core, tables, where), where), before=before, core=core)


def raised(model: Model) -> Model:
    """`model` in an opset that supports contracts; ONNX's own converter rewrites older ones.

    Raises ModelError for a model that it cannot rewrite.
    """
    import onnx

    opset = max((version for domain, version in model.opsets.items() if domain in ("", "ai.onnx")), default=0)
    if opset >= OPSET:
        return model
    proto = onnx.ModelProto.FromString(model.graph)
    if not opset and not proto.functions:  # all its operators are of other domains, such as ai.onnx.ml
        proto.opset_import.add(version=OPSET)
        return models.rebuilt(model, proto)
    try:
        made = raising.raised(proto, OPSET)
    except ModelError as error:
        raise ModelError(
            f"model '{model.name}' has opset {opset}; pictures, sounds and boxes need {OPSET}, but {error.message}",
            hint=error.hint,
        ) from error
    return models.rebuilt(model, made)


def _expanded(tables: Tables, signature: Signature, where: str) -> Tables:
    """`tables` with those that tables of outputs imply."""
    for name, kind in tables.outputs.items():
        if isinstance(kind, Expanding):
            with _named(f"{where}.outputs.{name}"):
                made = kind.expanded(name, tables.inputs, signature)
            tables = Tables(inputs={**tables.inputs, **made.inputs}, outputs={**tables.outputs, name: made.output})
    return tables


def _refuse_unknown(tables: Tables, signature: Signature, where: str) -> None:
    for kind, table, specs in (
        ("inputs", tables.inputs, signature.inputs),
        ("outputs", tables.outputs, signature.outputs),
    ):
        known = [spec.name for spec in specs]
        for name in table:
            if name not in known:
                raise ConfigError(
                    f"{where}.{kind}.{name}: the model has no such {kind[:-1]}", hint=nearest(name, known)
                )


def _with_shapes(model: Model, tables: Tables, where: str) -> Model:
    """The core with inputs as static as their kinds require."""
    import onnx

    shapes: dict[str, Sizes] = {}
    inputs = {spec.name: spec for spec in model.signature.inputs}
    for name, kind in tables.inputs.items():
        with _named(f"{where}.inputs.{name}"):
            shapes |= kind.shapes(inputs[name], inputs)
    proto = onnx.ModelProto.FromString(model.graph)
    models.fix_shapes(proto, shapes, f"[{where}.inputs]")
    return models.rebuilt(model, proto)


def _parts(model: Model, tables: Tables, where: str) -> AttachedParts:
    import onnx

    proto = onnx.ModelProto.FromString(model.graph)
    written = Written()
    taken = frozenset(name for node in traversal.all_nodes(proto) for name in (*node.input, *node.output))
    inputs: dict[str, AttachedInput] = {}
    outputs: dict[str, AttachedOutput] = {}
    made: dict[str, tuple[TensorSpec, ...]] = {}
    specs = {spec.name: spec for spec in model.signature.inputs}
    for spec in _in_order(model.signature.inputs, tables.inputs):
        if spec.name in inputs:
            continue
        before = len(written.inputs)
        input_kind = tables.inputs.get(spec.name) or INPUT_KINDS[PLAIN]()
        with _named(f"{where}.inputs.{spec.name}"):
            attached = input_kind.attach(Writer(scope=spec.name, taken=taken, written=written), spec, specs)
            _refuse_filled_twice(attached.filled, tables.inputs)
        made[spec.name] = tuple(written.inputs[before:])
        inputs |= {spec.name: attached}
        inputs |= {name: AttachedInput(typed=(), value=value) for name, value in attached.filled.items()}
    inputs = {name: inputs[name] for name in specs}  # in the model's order
    core = Core(
        outputs={spec.name: spec for spec in model.signature.outputs},
        placements={name: each.placement for name, each in inputs.items() if each.placement},
        tokens={name: each.tokens for name, each in inputs.items() if each.tokens},
        batches={name: each.batch for name, each in inputs.items() if each.batch},
        rates=frozenset(each.rate for each in inputs.values() if each.rate),
        inputs=specs,
        metadata={entry.key: entry.value for entry in proto.metadata_props},
    )
    parts = AttachedParts(inputs=inputs, outputs=outputs, made=made, written=written)
    core = replace(core, carried=parts.carried)
    _refuse_unfit_states(parts, core, tables, where)
    if core.is_batch:
        _refuse_beside_batch(parts, where)
    for spec in _in_order(model.signature.outputs, tables.outputs):
        if spec.name in parts.carried or any(spec.name in each.taken for each in outputs.values()):
            continue
        before, inputs_before = len(written.outputs), len(written.inputs)
        output_kind = tables.outputs.get(spec.name) or OUTPUT_KINDS[PLAIN]()
        assert isinstance(output_kind, OutputKind)
        with _named(f"{where}.outputs.{spec.name}"):
            outputs[spec.name] = output_kind.attach(Writer(scope=spec.name, taken=taken, written=written), spec, core)
            if core.is_batch and not outputs[spec.name].is_batch:
                raise ConfigError(
                    "takes no batch of texts", hint="omit batch in the table of the text: apps pass one after the other"
                )
        made[spec.name] = tuple(written.outputs[before:])
        parts.added.extend(written.inputs[inputs_before:])
    return parts


def _in_order(specs: tuple[TensorSpec, ...], tables: Mapping[str, object]) -> list[TensorSpec]:
    """Inputs or outputs with a table first: they may fill or absorb others."""
    return sorted(specs, key=lambda spec: spec.name not in tables)


def _refuse_filled_twice(filled: Iterable[str], tables: Mapping[str, InputKind]) -> None:
    for name in filled:
        if name in tables:
            raise ConfigError(f"also fills input '{name}', which has a table of its own", hint="remove one of them")


def _refuse_unfit_states(parts: AttachedParts, core: Core, tables: Tables, where: str) -> None:
    """Raises ConfigError for a state whose output is missing, has another type, or has a table of its own."""
    states = {
        name: typed for name, each in parts.inputs.items() for typed in each.typed if isinstance(typed, StateInput)
    }
    for name, state in states.items():
        after = state.output
        found = core.outputs.get(after.name)
        if found is None:
            hint = nearest(after.name, list(core.outputs))
            raise ConfigError(f"{where}.inputs.{name}: the model has no output '{after.name}'", hint=hint)
        if found.element is not after.element or not _is_alike(found, after):
            raise ConfigError(
                f"{where}.inputs.{name}: output '{after.name}' is {found.element} {list(found.shape)}, "
                f"but the state is {after.element} {list(after.shape)}",
                hint="name the output that is the next state",
            )
        if after.name in tables.outputs:
            raise ConfigError(f"{where}.outputs.{after.name}: is already a state", hint="remove one of the tables")


def _refuse_beside_batch(parts: AttachedParts, where: str) -> None:
    """Raises ConfigError for an input beside a batch that has no row for each text."""
    for name, each in parts.inputs.items():
        if not all(isinstance(typed, TextInput) and typed.is_batch for typed in each.typed):
            raise ConfigError(
                f"{where}.inputs.{name}: is beside a batch of texts, but not one of them",
                hint="omit batch in the table of the text, or set it for every text",
            )


def _is_alike(found: TensorSpec, wanted: TensorSpec) -> bool:
    """Whether the shape of `found` is compatible with that of `wanted`, as far as it is known."""
    pairs = zip(found.shape, wanted.shape, strict=False)
    return len(found.shape) == len(wanted.shape) and all(a == b for a, b in pairs if isinstance(a, int))


def _refuse_unfit_stream(contract: Contract, where: str) -> None:
    """Raises ConfigError for a sound with a stream that is not all that a run takes, or that a text is made of."""
    for each in contract.parameters:
        if isinstance(each, AudioInput) and each.streamed and (contract.generated or not contract.streamed):
            others = ", ".join(repr(other.identifier) for other in contract.parameters if other is not each)
            found = "generates a text" if contract.generated else f"also takes {others}"
            raise ConfigError(
                f"{where}.inputs.{each.identifier}: stream-hop is for a model that takes sound alone; this one {found}",
                hint='omit stream-hop, or give other inputs a value, or kind = "state"',
            )


def _joined(model: Model, parts: AttachedParts, where: str) -> Model:
    """The core and the added nodes as one graph."""
    import onnx

    proto = onnx.ModelProto.FromString(model.graph)
    _rename(parts, proto.graph)
    _replace_inputs(proto.graph, parts)
    outputs = _replace_outputs(proto.graph, parts)
    added = _used(parts, proto.graph)
    taken = {name for node in added for name in traversal.taken_by(node)} | set(parts.inputs)
    for name, array in parts.written.constants.items():
        if name in taken:
            proto.graph.initializer.append(onnx.numpy_helper.from_array(array, name))
    kept = sink(proto.graph.node, added, frozenset(value.name for value in proto.graph.output))
    proto.graph.node.extend(kept)
    made = models.rebuilt(model, proto)
    contract = replace(_contract(made.signature, parts, outputs), own=model.signature)
    _refuse_unfit_stream(contract, where)
    passed = [each.spec for each in contract.parameters if isinstance(each, TensorInput)]
    # inputs that the contract prepares do not count
    own = replace(made.traits, has_dynamic_shapes=not all(spec.is_static for spec in passed))
    added_bytes = max(0, len(made.graph) - len(model.graph))
    return replace(made, contract=contract, traits=own, contract_bytes=added_bytes)


def _used(parts: AttachedParts, graph: "GraphProto") -> "list[NodeProto]":
    """The added nodes, without those that no output depends on: a kind may write more than a model takes."""
    wanted = {value.name for value in graph.output}
    wanted |= {name for node in graph.node for name in traversal.taken_by(node)}
    kept: list[NodeProto] = []
    for node in reversed(parts.written.nodes):
        if wanted.intersection(node.output):
            wanted |= traversal.taken_by(node)
            kept.append(node)
    return kept[::-1]


def _rename(parts: AttachedParts, graph: "GraphProto") -> None:
    """Gives each tensor made from an app's input the name of the core's input."""
    constants = parts.written.constants
    moved: dict[str, str] = {}
    for name, each in parts.inputs.items():
        if each.value in constants:  # several kinds may share a constant
            constants[name] = constants[each.value]
        elif each.value:
            moved[each.value] = name
    for node in parts.written.nodes:
        for values in (node.input, node.output):
            values[:] = [moved.get(value, value) for value in values]


def _replace_inputs(graph: "GraphProto", parts: AttachedParts) -> None:
    kept: list[ValueInfoProto] = []
    for value in graph.input:
        attached = parts.inputs.get(value.name)
        if attached is None or not attached.value:
            kept.append(value)
        kept += [_value_info(spec) for spec in parts.made.get(value.name, ())]
    kept += map(_value_info, parts.added)
    _assign(graph.input, kept)


def _replace_outputs(graph: "GraphProto", parts: AttachedParts) -> list[str]:
    """Replaces the graph's outputs; returns the core's outputs that apps still get, in the model's order."""
    kept: list[ValueInfoProto] = []
    order: list[str] = []
    taken = {name for each in parts.outputs.values() for name in each.taken}
    for value in graph.output:
        if value.name in parts.outputs:
            order.append(value.name)
            kept += [_value_info(spec) for spec in parts.made[value.name]]
        if value.name not in taken:
            kept.append(value)
    _assign(graph.output, kept)
    return order


def _assign(values: Any, kept: "list[ValueInfoProto]") -> None:
    copies = [type(value).FromString(value.SerializeToString()) for value in kept]
    del values[:]
    values.extend(copies)


@contextmanager
def _named(table: str) -> Iterator[None]:
    """Prefixes errors of a kind with the table's name."""
    try:
        yield
    except ConfigError as error:
        raise ConfigError(f"{table}: {error.message}", hint=error.hint) from error


def _value_info(spec: TensorSpec) -> "ValueInfoProto":
    from onnx import TensorProto, helper

    return helper.make_tensor_value_info(
        spec.name, TensorProto.DataType.Value(spec.element.value.upper()), list(spec.shape)
    )


def _contract(signature: Signature, parts: AttachedParts, outputs: list[str]) -> Contract:
    specs = {spec.name: spec for spec in (*signature.inputs, *signature.outputs)}
    typed_inputs = [typed for each in parts.inputs.values() for typed in each.typed]
    typed_inputs += [state for each in parts.outputs.values() for state in each.states]
    typed_outputs = [parts.outputs[name].typed for name in outputs]
    wanted = [*map(_parameter, typed_inputs), *(each.identifier for each in typed_outputs)]
    identifiers = names.identifiers(wanted, prefix="value")
    known = [
        _known(each, specs, identifier)
        for each, identifier in zip((*typed_inputs, *typed_outputs), identifiers, strict=True)
    ]
    return Contract(
        inputs=tuple(known[: len(typed_inputs)]),
        outputs=tuple(known[len(typed_inputs) :]),
        shapes={name: each for attached in parts.inputs.values() for name, each in attached.shapes.items()},
        values={name: each for values in _values(parts) for name, each in values.items()},
    )


def _parameter(given: TypedInput) -> str:
    """The name of a parameter: `output` -> `output-value`, because generated code has a variable `output`."""
    is_taken = given.identifier in names.AROUND_PARAMETERS | FUNCTIONS and not isinstance(given, StateInput)
    return f"{given.identifier}-value" if is_taken else given.identifier


def _values(parts: AttachedParts) -> Iterator[Mapping[str, tuple[int, ...]]]:
    yield from (each.values for each in parts.inputs.values())
    yield from (each.values for each in parts.outputs.values())


def _known(typed: Any, specs: Mapping[str, TensorSpec], identifier: str) -> Any:
    """`typed` with the shapes and types of the finished model."""
    tensors = {each.name: value for each in fields(typed) if isinstance(value := getattr(typed, each.name), TensorSpec)}
    return replace(typed, identifier=identifier, **{key: specs[value.name] for key, value in tensors.items()})
