"""Joins the encoder and the decoder of a sequence-to-sequence model into one graph whose runs are steps of a text.

Exporters write two files: `encoder_model.onnx`, and `decoder_model_merged.onnx` with a branch for the first step and
one for further steps. In the joined graph the encoder is in a branch that only the first step takes; what it gives,
and the caches of cross-attention, are carried from there.
"""

from collections.abc import Iterable
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
IDS, DECODER_IDS = "input_ids", "decoder_input_ids"
"""input of the decoder with token ids, which the encoder's may be called as well, and its name in the joined graph"""
MASK, HIDDEN_MASK = "attention_mask", "encoder_attention_mask"
"""input of an encoder of texts, and that of the decoder with the same values"""
PAST, PRESENT, OF_ENCODER = "past_key_values.", "present.", ".encoder."
PREFIX = "encoder/"
"""begins names of the encoder's own values and nodes"""


def join(decoder: "ModelProto", encoder: "ModelProto", path: Path, where: str) -> None:
    """Adds `encoder`, which was read from `path`, to `decoder`, in place.

    The decoder's input `encoder_hidden_states` becomes a cache: `past_key_values.encoder_hidden_states` goes in, and
    `present.encoder_hidden_states` comes out; so does `encoder_attention_mask`. Its `input_ids` are called
    `decoder_input_ids`, so that the encoder may have some, too. `where` names the table in messages. Raises ConfigError
    for files that do not go together.
    """
    _rename_ids(decoder)
    _refuse_unfit(decoder, encoder, path, where)
    _separate_dimensions(encoder, decoder)
    prefix(encoder, PREFIX, {*names.all_names(decoder), HIDDEN, PAST + HIDDEN, PRESENT + HIDDEN})
    _keep_caches(decoder)
    _carry(decoder, HIDDEN_MASK, *_masking(encoder, decoder))
    _carry(decoder, HIDDEN, encoder.graph.node, encoder.graph.output[0].name)
    set_inputs(decoder.graph, [*encoder.graph.input, *decoder.graph.input])
    known = {each.domain for each in decoder.opset_import}
    decoder.opset_import.extend(each for each in encoder.opset_import if each.domain not in known)
    decoder.graph.initializer.extend(encoder.graph.initializer)


def _rename_ids(decoder: "ModelProto") -> None:
    inputs = {value.name: value for value in decoder.graph.input}
    if IDS not in inputs or DECODER_IDS in names.all_names(decoder):
        return
    inputs[IDS].name = DECODER_IDS
    for node in traversal.all_nodes(decoder):
        node.input[:] = [DECODER_IDS if name == IDS else name for name in node.input]
    for graph in traversal.all_graphs(decoder):
        for value in graph.output:
            value.name = DECODER_IDS if value.name == IDS else value.name


def _carry(decoder: "ModelProto", name: str, nodes: "Iterable[NodeProto]", output: str) -> None:
    """Makes a cache of the decoder's input `name`, if it has it: `output` of `nodes` in the first step."""
    value = next((each for each in decoder.graph.input if each.name == name), None)
    if value is None:
        return
    _open_length(value)
    past, kept = _renamed(value, PAST + name), f"{PREFIX}{name}/kept"
    later = branch("later", [identity(past.name, kept)], kept, type_of(value))
    others = [each for each in decoder.graph.input if each.name != name]
    decoder.graph.output.append(_renamed(value, PRESENT + name))
    decoder.graph.node.insert(0, _choice(name, later, branch("first", nodes, output, type_of(value))))
    decoder.graph.node.append(identity(name, PRESENT + name))
    set_inputs(decoder.graph, [*others, past])


def _open_length(value: "ValueInfoProto") -> None:
    """Opens the size after the batch where it is a number, as that of Whisper's 30 seconds: nothing is carried before
    the first step."""
    size = value.type.tensor_type.shape.dim[1]
    if not size.dim_param:
        size.dim_param = f"{value.name}_length"


def _masking(encoder: "ModelProto", decoder: "ModelProto") -> "tuple[list[NodeProto], str]":
    """Nodes that make the mask of the encoder's result, and the name of that: its own mask, or ones without any."""
    from onnx import TensorProto, helper

    made = f"{PREFIX}{HIDDEN_MASK}"
    own, sizes, ones = (f"{made}/{each}" for each in ("own", "sizes", "ones"))
    element = next((type_of(value) for value in decoder.graph.input if value.name == HIDDEN_MASK), TensorProto.INT64)
    if MASK in {value.name for value in encoder.graph.input}:
        return [helper.make_node("Cast", [MASK], [made], name=own, to=element)], made
    one = helper.make_tensor("one", element, [1], [1])
    return [
        helper.make_node("Shape", [HIDDEN], [sizes], name=sizes, start=0, end=2),
        helper.make_node("ConstantOfShape", [sizes], [made], name=ones, value=one),
    ], made


def _separate_dimensions(encoder: "ModelProto", decoder: "ModelProto") -> None:
    """Renames open sizes of the encoder's inputs, after the batch, that are called as sizes of the decoder's: one is of
    the first step, the other of what is carried."""
    known = {size for value in decoder.graph.input for size in _sizes(value)}
    for value in encoder.graph.input:
        for each in value.type.tensor_type.shape.dim[1:]:
            if each.dim_param in known:
                each.dim_param = f"given_{each.dim_param}"


def _refuse_unfit(decoder: "ModelProto", encoder: "ModelProto", path: Path, where: str) -> None:
    inputs = {value.name: value for value in decoder.graph.input}
    for name in (HIDDEN, LATER):
        if name not in inputs:
            raise ConfigError(
                f"{where}: the decoder has no input '{name}'",
                hint="use decoder_model_merged.onnx of an export by Hugging Face optimum, or decoder_model.onnx with "
                'with-past = "decoder_with_past_model.onnx"',
            )
    found = encoder.graph.output
    if len(found) != 1 or type_of(found[0]) != type_of(inputs[HIDDEN]) or not _is_alike(found[0], inputs[HIDDEN]):
        given = ", ".join(f"'{value.name}' {_sizes(value)}" for value in found)
        raise ConfigError(
            f"{where}: {path.name} gives {given}, but the decoder takes '{HIDDEN}' {_sizes(inputs[HIDDEN])}",
            hint="use the encoder and the decoder of one export",
        )
    if shared := sorted({value.name for value in encoder.graph.input} & names.all_names(decoder)):
        raise ConfigError(
            f"{where}: the encoder takes '{shared[0]}', and the decoder has a value of that name",
            hint=f"only the decoder's inputs {IDS}, {HIDDEN_MASK} and caches can be filled",
        )
    opsets = [{each.domain: each.version for each in model.opset_import} for model in (decoder, encoder)]
    if any(opsets[0][domain] != opsets[1][domain] for domain in opsets[0].keys() & opsets[1].keys()):
        raise ConfigError(f"{where}: the files have different opsets", hint="export both with one opset_version")
    if decoder.functions or encoder.functions:
        raise ConfigError(f"{where}: models with functions cannot be joined", hint="export without functions")


def prefix(model: "ModelProto", start: str, taken: set[str]) -> None:
    """Makes the names of all of a model's values and nodes, apart from its inputs, begin with `start`."""
    kept = {value.name for value in model.graph.input}
    assert not kept & taken

    def renamed(name: str) -> str:
        return name if not name or name in kept else start + name

    for graph in traversal.all_graphs(model):
        for each in (*graph.output, *graph.value_info, *graph.initializer):
            each.name = renamed(each.name)
        if graph is not model.graph:
            for each in graph.input:
                each.name = renamed(each.name)
    for node in traversal.all_nodes(model):
        node.name = renamed(node.name)
        for values in (node.input, node.output):
            values[:] = [renamed(value) for value in values]


def _keep_caches(decoder: "ModelProto") -> None:
    """Carries the caches of cross-attention: the branch for further steps gives none, or empty ones."""
    inputs = {value.name for value in decoder.graph.input}
    outputs = {value.name: value for value in decoder.graph.output}
    pasts = {name: name.replace(PRESENT, PAST, 1) for name in outputs}
    kept = {name: past for name, past in pasts.items() if OF_ENCODER in name and past in inputs}
    made = {name: f"{PREFIX}{name}" for name in kept}
    _separate_branches(decoder)
    for node in decoder.graph.node:
        node.output[:] = [made.get(name, name) for name in node.output]
    for name, past in kept.items():
        element, kept_name, first_name = type_of(outputs[name]), f"{made[name]}/past", f"{made[name]}/first"
        later = branch("later", [identity(past, kept_name)], kept_name, element)
        first = branch("first", [identity(made[name], first_name)], first_name, element)
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


def branch(name: str, nodes: "Iterable[NodeProto]", output: str, element: int) -> "GraphProto":
    from onnx import helper

    return helper.make_graph(list(nodes), name, [], [helper.make_tensor_value_info(output, element, None)])


def identity(value: str, made: str) -> "NodeProto":
    from onnx import helper

    return helper.make_node("Identity", [value], [made], name=f"{PREFIX}{made}")


def _renamed(value: "ValueInfoProto", name: str) -> "ValueInfoProto":
    made: ValueInfoProto = type(value).FromString(value.SerializeToString())
    made.name = name
    return made


def set_inputs(graph: "GraphProto", inputs: "Iterable[ValueInfoProto]") -> None:
    """Makes `inputs`, which may be some of its own, the inputs of `graph`."""
    copies = [_renamed(value, value.name) for value in inputs]
    del graph.input[:]
    graph.input.extend(copies)


def type_of(value: "ValueInfoProto") -> int:
    return int(value.type.tensor_type.elem_type)


def _sizes(value: "ValueInfoProto") -> list[int | str]:
    return [each.dim_param or each.dim_value for each in value.type.tensor_type.shape.dim]


def _is_alike(one: "ValueInfoProto", other: "ValueInfoProto") -> bool:
    pairs = list(zip(_sizes(one), _sizes(other), strict=False))
    same = all(a == b for a, b in pairs if isinstance(a, int) and isinstance(b, int))
    return len(_sizes(one)) == len(_sizes(other)) and same
