"""Joins the encoder and the decoder of a sequence-to-sequence model into one graph whose runs are steps of a text.

Exporters write two files: `encoder_model.onnx`, and `decoder_model_merged.onnx` with a branch for the first step and
one for further steps. In the joined graph the encoder is in a branch that only the first step takes; what it gives,
and the caches of cross-attention, are carried from there.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from packager.core.errors import ConfigError
from packager.graph import names, traversal

if TYPE_CHECKING:
    from onnx import GraphProto, ModelProto, NodeProto, ValueInfoProto

HIDDEN = "encoder_hidden_states"
"""input of the decoder with the encoder's output"""
LATER = "use_cache_branch"
"""input of the decoder, bool [1]: whether this is a further step"""
PAST, PRESENT, OF_ENCODER = "past_key_values.", "present.", ".encoder."
PREFIX = "encoder/"
"""begins names of the encoder's own values and nodes"""


def join(decoder: "ModelProto", encoder: "ModelProto", path: Path, where: str) -> None:
    """Adds `encoder`, which was read from `path`, to `decoder`, in place.

    The decoder's input `encoder_hidden_states` becomes a cache: `past_key_values.encoder_hidden_states` goes in, and
    `present.encoder_hidden_states` comes out. `where` names the table in messages. Raises ConfigError for files that do
    not go together.
    """
    _refuse_unfit(decoder, encoder, path, where)
    hidden = next(value for value in decoder.graph.input if value.name == HIDDEN)
    _prefix(encoder, {*names.all_names(decoder), HIDDEN, PAST + HIDDEN, PRESENT + HIDDEN})
    output = encoder.graph.output[0].name
    _keep_caches(decoder)
    past = _renamed(hidden, PAST + HIDDEN)
    first = _branch("first", encoder.graph.node, output)
    later = _branch("later", [_identity(past.name, f"{PREFIX}kept")], f"{PREFIX}kept")
    kept = [value for value in decoder.graph.input if value.name != HIDDEN]
    _assign(decoder.graph.input, [*encoder.graph.input, *kept, past])
    decoder.graph.output.append(_renamed(hidden, PRESENT + HIDDEN))
    known = {each.domain for each in decoder.opset_import}
    decoder.opset_import.extend(each for each in encoder.opset_import if each.domain not in known)
    decoder.graph.initializer.extend(encoder.graph.initializer)
    decoder.graph.node.insert(0, _choice(HIDDEN, later, first))
    decoder.graph.node.append(_identity(HIDDEN, PRESENT + HIDDEN))


def _refuse_unfit(decoder: "ModelProto", encoder: "ModelProto", path: Path, where: str) -> None:
    inputs = {value.name: value for value in decoder.graph.input}
    for name in (HIDDEN, LATER):
        if name not in inputs:
            raise ConfigError(
                f"{where}: the decoder has no input '{name}'",
                hint="use the file decoder_model_merged.onnx of an export by Hugging Face optimum",
            )
    found = encoder.graph.output
    if len(found) != 1 or _type(found[0]) != _type(inputs[HIDDEN]) or not _is_alike(found[0], inputs[HIDDEN]):
        given = ", ".join(f"'{value.name}' {_sizes(value)}" for value in found)
        raise ConfigError(
            f"{where}: {path.name} gives {given}, but the decoder takes '{HIDDEN}' {_sizes(inputs[HIDDEN])}",
            hint="use the encoder and the decoder of one export",
        )
    if shared := sorted({value.name for value in encoder.graph.input} & inputs.keys()):
        raise ConfigError(
            f"{where}: the encoder and the decoder both take '{shared[0]}'",
            hint="only models whose encoder takes sounds or tensors of its own can be joined",
        )
    opsets = [{each.domain: each.version for each in model.opset_import} for model in (decoder, encoder)]
    if any(opsets[0][domain] != opsets[1][domain] for domain in opsets[0].keys() & opsets[1].keys()):
        raise ConfigError(f"{where}: the files have different opsets", hint="export both with one opset_version")
    if decoder.functions or encoder.functions:
        raise ConfigError(f"{where}: models with functions cannot be joined", hint="export without functions")


def _prefix(encoder: "ModelProto", taken: set[str]) -> None:
    """Renames all of the encoder's values and nodes apart from its inputs."""
    kept = {value.name for value in encoder.graph.input}
    assert not kept & taken

    def renamed(name: str) -> str:
        return name if not name or name in kept else PREFIX + name

    for graph in traversal.all_graphs(encoder):
        for each in (*graph.output, *graph.value_info, *graph.initializer):
            each.name = renamed(each.name)
        if graph is not encoder.graph:
            for each in graph.input:
                each.name = renamed(each.name)
    for node in traversal.all_nodes(encoder):
        node.name = renamed(node.name)
        for values in (node.input, node.output):
            values[:] = [renamed(value) for value in values]


def _keep_caches(decoder: "ModelProto") -> None:
    """Carries the caches of cross-attention: the branch for further steps gives none, or empty ones."""
    inputs = {value.name for value in decoder.graph.input}
    pasts = {value.name: value.name.replace(PRESENT, PAST, 1) for value in decoder.graph.output}
    kept = {name: past for name, past in pasts.items() if OF_ENCODER in name and past in inputs}
    made = {name: f"{PREFIX}{name}" for name in kept}
    _separate_branches(decoder)
    for node in decoder.graph.node:
        node.output[:] = [made.get(name, name) for name in node.output]
    for name, past in kept.items():
        later = _branch("later", [_identity(past, f"{made[name]}/past")], f"{made[name]}/past")
        first = _branch("first", [_identity(made[name], f"{made[name]}/first")], f"{made[name]}/first")
        decoder.graph.node.append(_choice(name, later, first))


def _separate_branches(decoder: "ModelProto") -> None:
    """Renames values in branches that have the name of an output of the whole graph: sorting takes them for it."""
    own = {value.name: f"{PREFIX}branch/{value.name}" for value in decoder.graph.output}
    inner = [graph for node in decoder.graph.node for graph in traversal.subgraphs(node)]
    for graph in inner:
        for each in (*graph.output, *graph.value_info):
            each.name = own.get(each.name, each.name)
        for node in traversal.nodes_in(graph.node):
            for values in (node.input, node.output):
                values[:] = [own.get(value, value) for value in values]


def _choice(name: str, later: "GraphProto", first: "GraphProto") -> "NodeProto":
    from onnx import helper

    return helper.make_node("If", [LATER], [name], name=f"{PREFIX}{name}/choice", then_branch=later, else_branch=first)


def _branch(name: str, nodes: "object", output: str) -> "GraphProto":
    from onnx import TensorProto, helper

    info = helper.make_tensor_value_info(output, TensorProto.FLOAT, None)
    return helper.make_graph(list(nodes), name, [], [info])  # type: ignore[call-overload]


def _identity(value: str, made: str) -> "NodeProto":
    from onnx import helper

    return helper.make_node("Identity", [value], [made], name=f"{PREFIX}{made}")


def _renamed(value: "ValueInfoProto", name: str) -> "ValueInfoProto":
    made: ValueInfoProto = type(value).FromString(value.SerializeToString())
    made.name = name
    return made


def _assign(values: "object", kept: "list[ValueInfoProto]") -> None:
    copies = [type(value).FromString(value.SerializeToString()) for value in kept]
    del values[:]  # type: ignore[attr-defined]
    values.extend(copies)  # type: ignore[attr-defined]


def _type(value: "ValueInfoProto") -> int:
    return int(value.type.tensor_type.elem_type)


def _sizes(value: "ValueInfoProto") -> list[int | str]:
    return [each.dim_param or each.dim_value for each in value.type.tensor_type.shape.dim]


def _is_alike(one: "ValueInfoProto", other: "ValueInfoProto") -> bool:
    pairs = list(zip(_sizes(one), _sizes(other), strict=False))
    same = all(a == b for a, b in pairs if isinstance(a, int) and isinstance(b, int))
    return len(_sizes(one)) == len(_sizes(other)) and same
