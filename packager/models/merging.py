"""Merges the two decoders of an older export into one whose branches are the first step and further steps.

Exporters used to write `decoder_model.onnx`, which takes the encoder's result and no caches, and
`decoder_with_past_model.onnx`, which takes caches. The merged graph is that of `decoder_model_merged.onnx`.
"""

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from packager.core.errors import ConfigError
from packager.graph import traversal
from packager.graph.weights.places import chunks_of, source_of
from packager.models.joining import LATER, PAST, PRESENT, identity, prefix, set_inputs, type_of

if TYPE_CHECKING:
    from onnx import GraphProto, ModelProto, TensorProto

FIRST_STEP, FURTHER_STEPS = "first/", "later/"
"""begin names of the values and nodes of either file"""


def merge(first: "ModelProto", later: "ModelProto", folder: Path, where: str) -> None:
    """Adds `later` to `first`, in place: `use_cache_branch` chooses; weights that both have are kept once.

    `folder` has the files with their weights. `where` names the table in messages. Raises ConfigError for files that do
    not go together.
    """
    _refuse_unfit(first, later, where)
    from onnx import TensorProto, helper

    outputs = [(value.name, type_of(value)) for value in first.graph.output]
    known = {value.name: value.type for value in later.graph.output}
    for model, start in ((first, FIRST_STEP), (later, FURTHER_STEPS)):
        prefix(model, start, set())
    _share_weights(first, later, folder)
    branches = {
        "then_branch": _branch(later.graph, FURTHER_STEPS, outputs, set(known)),
        "else_branch": _branch(first.graph, FIRST_STEP, outputs, {name for name, _ in outputs}),
    }
    names = [name for name, _ in outputs]
    graph = first.graph
    for value, name in zip(graph.output, names, strict=True):
        value.name = name
        if name.startswith(PRESENT) and name in known:  # sizes in terms of the cache, not of the first step's tokens
            value.type.CopyFrom(known[name])
    del graph.node[:], graph.value_info[:]
    graph.node.append(helper.make_node("If", [LATER], names, name="steps", **branches))
    taken = {value.name for value in graph.input}
    others = [value for value in later.graph.input if value.name not in taken]
    flag = helper.make_tensor_value_info(LATER, TensorProto.BOOL, [1])
    set_inputs(graph, [*graph.input, *others, flag])
    graph.initializer.extend(later.graph.initializer)
    domains = {each.domain for each in first.opset_import}
    first.opset_import.extend(each for each in later.opset_import if each.domain not in domains)
    first.ir_version = max(first.ir_version, later.ir_version)


def _refuse_unfit(first: "ModelProto", later: "ModelProto", where: str) -> None:
    given = {value.name for value in later.graph.output}
    taken = {value.name for value in later.graph.input}
    for value in first.graph.output:
        if value.name not in given and value.name.replace(PRESENT, PAST, 1) not in taken:
            raise ConfigError(
                f"{where}: the first decoder gives '{value.name}', which the other neither gives nor takes",
                hint="use decoder_model.onnx and decoder_with_past_model.onnx of one export",
            )
    if LATER in {value.name for value in first.graph.input}:
        raise ConfigError(f"{where}: the decoder takes '{LATER}': it is merged already", hint="remove with-past")
    opsets = [{each.domain: each.version for each in model.opset_import} for model in (first, later)]
    if any(opsets[0][domain] != opsets[1][domain] for domain in opsets[0].keys() & opsets[1].keys()):
        raise ConfigError(f"{where}: the files have different opsets", hint="export both with one opset_version")
    if first.functions or later.functions:
        raise ConfigError(f"{where}: models with functions cannot be merged", hint="export without functions")


def _branch(graph: "GraphProto", start: str, outputs: list[tuple[str, int]], known: set[str]) -> "GraphProto":
    """The nodes of `graph`; caches that it does not give are those that it took."""
    from onnx import helper

    made = {name: f"{start}{name}" if name in known else f"{start}kept/{name}" for name, _ in outputs}
    kept = [identity(name.replace(PRESENT, PAST, 1), made[name]) for name, _ in outputs if name not in known]
    infos = [helper.make_tensor_value_info(made[name], element, None) for name, element in outputs]
    return helper.make_graph([*graph.node, *kept], start.rstrip("/"), [], infos)


def _share_weights(first: "ModelProto", later: "ModelProto", folder: Path) -> None:
    """Removes the weights of `later` that `first` has, too: the files have nearly all of them in common."""
    known = {_content(each, folder): each.name for each in first.graph.initializer}
    same = {each.name: known[found] for each in later.graph.initializer if (found := _content(each, folder)) in known}
    for node in traversal.all_nodes(later):
        node.input[:] = [same.get(name, name) for name in node.input]
    for graph in traversal.all_graphs(later):
        kept = [each for each in graph.initializer if graph is not later.graph or each.name not in same]
        del graph.initializer[:]
        graph.initializer.extend(kept)


def _content(tensor: "TensorProto", folder: Path) -> tuple[object, ...]:
    """Type, shape and digest of a tensor's numbers, wherever they lie."""
    shape = (tensor.data_type, *tensor.dims)
    if tensor.data_location != tensor.EXTERNAL:
        unnamed = type(tensor).FromString(tensor.SerializeToString())
        unnamed.name = ""
        return (*shape, unnamed.SerializeToString(deterministic=True))
    digest = hashlib.sha256()
    for chunk in chunks_of(source_of(tensor, folder)):
        digest.update(chunk)
    return (*shape, digest.digest())
