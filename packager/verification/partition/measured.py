"""Asks a provider, in an environment that has it, which nodes of a file it takes."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from packager.core.errors import ModelError, ToolError
from packager.core.parsing import Json
from packager.engines.environments import CHILD, ENVIRONMENTS, SIGNED, Environment, ensure, qnn, webgpu
from packager.engines.session.branches import restore_ends
from packager.engines.session.refusals import explain
from packager.files.processes import commands
from packager.graph import traversal
from packager.graph.connections import indexed
from packager.models.skeleton import read_skeleton
from packager.providers import CPU

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto

MARK = re.compile("@([0-9]+)@")
"""The name that marks a node. ONNX Runtime keeps it inside the names it derives from it: `@7@_token_3`."""

CONVERSIONS = ("QuantizeLinear", "DequantizeLinear")

SESSION_ENTRIES = SIGNED
NO_SETTINGS: Mapping[str, str] = {}


@dataclass(frozen=True, kw_only=True)
class ProviderSource:
    """An environment in which a provider can be asked."""

    environment: str
    options: Mapping[str, str]
    words: str
    """software besides ONNX Runtime, with the version of the plug-in"""


SOURCES = {
    CPU.NAME: ProviderSource(environment="runtime", options={}, words=""),
    "qnn": ProviderSource(environment="qnn", options=qnn.OPTIONS, words=f", {qnn.WORDS}"),
    "webgpu": ProviderSource(environment="webgpu", options={}, words=f", {webgpu.in_words()}"),
}


@dataclass(frozen=True, kw_only=True)
class OfferedNode:
    """A node as the provider was offered it."""

    op: str
    domain: str
    names: tuple[str, ...]
    """the nodes of the file that it represents, unnamed nodes by their first output; empty for a node that ONNX Runtime
    added (a Transpose for a layout), several for one that it merged"""


@dataclass(frozen=True, kw_only=True)
class Subgraph:
    """A partition of a provider. Providers with kernels of their own (CPU, WebGPU) take node by node."""

    provider: str
    """ONNX Runtime's name: `QNNExecutionProvider`"""
    nodes: tuple[OfferedNode, ...]


@dataclass(frozen=True, kw_only=True)
class OfferedNodes:
    subgraphs: tuple[Subgraph, ...]
    by: str
    """description of the measurement"""
    names: tuple[str, ...]
    """every node of the file, including those of subgraphs"""
    followers: Mapping[str, str] = field(default_factory=dict)
    """QuantizeLinear and DequantizeLinear nodes that a layout change recreated without their names -> provider, that of
    the node whose values they convert"""
    refusal: str = ""
    """ONNX Runtime's message if the provider cannot open the file; empty if it can"""

    def taken(self, provider: str) -> frozenset[str]:
        """Names of the nodes of the file that `provider` runs."""
        return frozenset(
            name
            for subgraph in self.subgraphs
            if subgraph.provider == provider
            for node in subgraph.nodes
            for name in node.names
        ) | {name for name, follows in self.followers.items() if follows == provider}

    @cached_property
    def gone(self) -> tuple[str, ...]:
        """Nodes of the file that ONNX Runtime folded or merged before it asked any provider."""
        seen = {name for subgraph in self.subgraphs for node in subgraph.nodes for name in node.names}
        return tuple(name for name in self.names if name not in seen and name not in self.followers)


def measure(
    model: Path,
    data_folder: Path | None,
    provider: str,
    options: Mapping[str, str],
    scratch: Path,
    settings: Mapping[str, str] = NO_SETTINGS,
) -> OfferedNodes:
    """Lets `provider` open `model` (.ort or .onnx) with the session's `settings`; returns which of its nodes it takes.

    `data_folder` holds the external data of a graph whose weights lie elsewhere. For an ORT-format file the provider is
    asked about an ONNX file of the same nodes, because ONNX Runtime records no assignment for ORT format; then the file
    itself is opened. Raises ToolError if the environment is missing or the provider does not work in it, ModelError if
    ONNX Runtime crashes on the graph.
    """
    source = SOURCES[provider]
    environment = ready(source.environment)
    is_ort = model.suffix == ".ort"
    asked = _exported(model, environment, scratch) if is_ort else model
    marked = mark(asked, data_folder, scratch)
    job = {
        "provider": provider,
        "provider_options": {**source.options, **options},
        "entries": {**marked.settings(settings), **SESSION_ENTRIES},
        "optimize": not is_ort,
    }
    answer = run_child(
        environment,
        {**job, "task": "assign", "model": str(marked.path), "data_folder": str(marked.data_folder.absolute())},
        scratch,
    )
    opened = (
        run_child(environment, {**job, "task": "load", "model": str(model.absolute()), "data_folder": None}, scratch)
        if is_ort and "error" not in answer
        else answer
    )
    if not opened.get("is_usable", True):
        raise ToolError(
            f"{provider} opens no model on this machine: {explain(opened['error'])}",
            hint=commands.how_to_remake(source.environment),
        )
    return assignment(
        answer,
        marked,
        by=f"ONNX Runtime {answer['version']}{source.words.format(**answer)}",
        refusal=explain(opened.get("error", "")),
    )


@dataclass(frozen=True, kw_only=True)
class Marked:
    """A graph whose nodes bear marks for names."""

    path: Path
    data_folder: Path
    """of its external data"""
    nodes: "tuple[NodeProto, ...]"
    names: tuple[str, ...]
    """names of the nodes in the file, in the order of their marks"""

    def settings(self, given: Mapping[str, str]) -> Mapping[str, str]:
        """`given`, with marks instead of the names of nodes in lists of them."""
        marks = {name: f"@{index}@" for index, name in enumerate(self.names)}
        return {key: "\n".join(marks.get(line, line) for line in value.split("\n")) for key, value in given.items()}


def mark(model: Path, data_folder: Path | None, scratch: Path) -> Marked:
    """A copy of the ONNX file `model` in `scratch` with marked nodes and without its weights."""
    proto, data_folder = _graph(model, data_folder)
    nodes = tuple(traversal.all_nodes(proto))
    names = tuple(_name(node) for node in nodes)
    for index, node in enumerate(nodes):
        node.name = f"@{index}@"
    traversal.name_graphs(proto)
    path = scratch / "named.onnx"
    path.write_bytes(proto.SerializeToString())
    return Marked(path=path, data_folder=data_folder, nodes=nodes, names=names)


def assignment(answer: Json, marked: Marked, *, by: str, refusal: str = "") -> OfferedNodes:
    """The assignment in a child's answer about the marked nodes."""
    subgraphs = tuple(_subgraphs(answer, marked.names))
    followers = _followers(subgraphs, marked.nodes, marked.names)
    return OfferedNodes(subgraphs=subgraphs, by=by, names=marked.names, followers=followers, refusal=refusal)


def ready(name: str) -> Environment:
    """The environment `name`; `runtime` is created if it is missing. Raises ToolError if another one is."""
    environment = ENVIRONMENTS[name]()
    if name == "runtime":
        ensure(environment)
    if reason := environment.missing():
        raise ToolError(f"the environment {name} is missing", hint=reason)
    return environment


def run_child(environment: Environment, job: Mapping[str, object], scratch: Path, *, program: Path = CHILD) -> Json:
    """The answer of `program`, which runs in `environment`."""
    return commands.run_job(
        [program],
        job,
        scratch,
        crash="ONNX Runtime crashed while a provider looked at the model",
        hint="report it to ONNX Runtime with the model",
        environment=environment.variables(),
        command=environment.command(),
        owner=environment.NAME,
    )


def _exported(model: Path, environment: Environment, scratch: Path) -> Path:
    output = scratch / "exported.onnx"
    answer = run_child(environment, {"task": "export", "model": str(model.absolute()), "output": str(output)}, scratch)
    if "error" in answer:
        raise ModelError(f"ONNX Runtime cannot open the ORT-format file: {answer['error']}")
    proto, _ = _graph(output, None)
    if restore_ends(proto, model):
        proto.ParseFromString(output.read_bytes())
        restore_ends(proto, model)
        output.write_bytes(proto.SerializeToString(deterministic=True))
    return output


def _graph(path: Path, data_folder: Path | None) -> "tuple[ModelProto, Path]":
    """The graph without its weights, and the folder they are in."""
    from onnx import ModelProto

    content = path.read_bytes() if data_folder else read_skeleton(path)
    proto = ModelProto()
    proto.ParseFromString(content)
    return proto, data_folder or path.parent


def _name(node: "NodeProto") -> str:
    """Its name, or that of its first output, as in `graph.Node`."""
    return str(node.name or next((name for name in node.output if name), ""))


def _subgraphs(answer: Json, names: tuple[str, ...]) -> Iterator[Subgraph]:
    for subgraph in answer.get("subgraphs", ()):  # none if even the ONNX graph is refused
        nodes = tuple(
            OfferedNode(
                op=node["op"],
                domain=node["domain"],
                names=tuple(dict.fromkeys(names[int(mark)] for mark in MARK.findall(node["name"]))),
            )
            for node in subgraph["nodes"]
        )
        yield Subgraph(provider=subgraph["provider"], nodes=nodes)


def _followers(subgraphs: Iterable[Subgraph], nodes: "Sequence[NodeProto]", names: tuple[str, ...]) -> dict[str, str]:
    """Conversions that no provider was asked about by name: they belong to the provider of the node that they serve."""
    providers = {name: subgraph.provider for subgraph in subgraphs for node in subgraph.nodes for name in node.names}
    connections = indexed(nodes)
    followers: dict[str, str] = {}
    lost = [i for i, node in enumerate(nodes) if node.op_type in CONVERSIONS and names[i] not in providers]
    while True:  # a Q may follow a DQ that follows: each round finds at least one, or is the last
        found = {}
        for index in lost:
            node = nodes[index]
            source = connections.producers.get(node.input[0]) if node.op_type == "QuantizeLinear" else None
            served = [] if source is None else [source]
            served += connections.consumers.get(node.output[0], [])
            known = [names[each] for each in served if names[each] in providers]
            if names[index] not in providers and known:
                found[names[index]] = providers[known[0]]
        if not found:
            return followers
        providers |= found
        followers |= found
