"""Proves that the runtime that ships has a kernel for every node of a file: it opens the file there.

This covers nodes that only exist after the runtime has rewritten the graph (a fusion, a Transpose for a layout): the
runtime that opens the file is the one that rewrites it.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from packager.compile.reader import read_graph as read_ort
from packager.core.errors import ModelError, ToolError
from packager.core.findings import KernelProof
from packager.core.values import Compiled, Format, Style
from packager.engines.environments import Shipped, ensure
from packager.engines.environments.release import PinnedRuntime
from packager.engines.session.refusals import explain
from packager.graph.view import Graph, Node
from packager.models.graphs import read_graph as read_onnx
from packager.verification.partition.measured import run_child

NO_KERNEL = re.compile(
    r"(?:Could not find an implementation for|Failed to find kernel for) (?:(?P<domain>[\w.]+)[.:])?(?P<op>\w+)\(\d+\)"
    r"(?: node with name '(?P<name>[^']*)')?"
)
"""ONNX Runtime's messages: session_state.cc and kernel_registry_manager.cc."""


def graph_of(compiled: Compiled) -> Graph:
    """The nodes of a compiled file, as the runtime reads them."""
    if compiled.format is Format.ORT:
        return read_ort(compiled.path)
    return read_onnx(compiled.path.read_bytes())


def prove(compiled: Compiled, shipped: Shipped, scratch: Path) -> KernelProof:
    """Opens `compiled` in the runtime that packages depend on, with only the CPU, which takes every node that no
    provider takes.

    Raises ModelError that names the node, its operator and types if there is no kernel for it, ToolError if that
    runtime is not available.
    """
    variant = compiled.variant
    if compiled.style is Style.CONTEXT:
        reason = "a binary for one chip: only its own provider opens it, on that chip"
        return _proof(compiled, 0, runtime=shipped.package, skipped=reason)
    environment = shipped.on(compiled.processor)
    try:
        ensure(environment)
    except ToolError as error:
        hint = f'{error.hint}; or set kernels = "skip" in [check] to ship without this proof'
        raise ToolError(error.message, hint=hint) from error
    graph = graph_of(compiled)
    answer = run_child(environment, _job(compiled, shipped), scratch, program=shipped.PROGRAM)
    if "error" in answer:
        raise ModelError(
            f"model '{variant.model.name}' ({variant.name}, {compiled.style}) does not load in {shipped.display_name}, "
            f"which the package ships: {explained(str(answer['error']), graph)}",
            hint=f"export with a lower opset, replace the operator, or {shipped.INSTEAD}",
        )
    core = " on an emulated ARM core with FP16" if environment.NAME != shipped.NAME else ""
    by = f"loaded in {shipped.display_name}{core}"
    return _proof(compiled, len(list(graph.all_nodes())), runtime=shipped.package, by=by)


def _job(compiled: Compiled, shipped: Shipped) -> dict[str, object]:
    """Opens the file on the CPU, which takes every node that no provider takes."""
    return {
        "task": "load",
        "model": str(compiled.path.absolute()),
        "provider": "cpu",
        "provider_options": {},
        "entries": {**shipped.ENTRIES, **compiled.settings},
        "data_folder": None,
        "optimize": True,
    }


def prove_in(compiled: Compiled, release: str, scratch: Path) -> KernelProof:
    """Opens `compiled` in another release of ONNX Runtime, as `prove` does in the one that ships.

    Raises ModelError if it does not load, ToolError if the release cannot be installed.
    """
    environment = PinnedRuntime(release=release)
    if compiled.style is Style.CONTEXT or compiled.processor:
        what = "a binary for one chip" if compiled.style is Style.CONTEXT else "it computes in 16 bits, on ARM only"
        return skipped(compiled, f"{what}: not opened in this release", runtime=environment.package)
    ensure(environment)
    graph = graph_of(compiled)
    answer = run_child(environment, _job(compiled, environment), scratch)
    if "error" in answer:
        raise ModelError(explained(str(answer["error"]), graph))
    by = f"loaded in {environment.display_name}"
    return _proof(compiled, len(list(graph.all_nodes())), runtime=environment.package, by=by)


def skipped(compiled: Compiled, reason: str, *, runtime: str) -> KernelProof:
    """A record that nothing was proven, and why."""
    return _proof(compiled, 0, skipped=reason, runtime=runtime)


def declared(compiled: Compiled, runtime: str) -> KernelProof:
    """Proof for a reduced runtime whose operator configuration covers all of `compiled`; it is not opened here."""
    by = "the operator configuration that the runtime was built with has every operator and type; not opened in it"
    return _proof(compiled, len(list(graph_of(compiled).all_nodes())), by=by, runtime=runtime)


def _proof(compiled: Compiled, node_count: int, *, runtime: str, by: str = "", skipped: str = "") -> KernelProof:
    return KernelProof(
        model=compiled.variant.model.name,
        variant=compiled.variant.name,
        sha256=compiled.sha256,
        runtime=runtime,
        node_count=node_count,
        by=by,
        skipped=skipped,
    )


def explained(error: str, graph: Graph) -> str:
    """ONNX Runtime's refusal, with the node, its operator and its types if the message identifies them."""
    found = NO_KERNEL.search(error)
    if not found:
        return explain(error)
    candidates = [(each, node) for each in _graphs(graph) for node in each.nodes if node.op == found["op"]]
    named = [each for each in candidates if each[1].name == found["name"]] or candidates
    if not named:
        return f"no kernel for {found['op']}: {error}"
    around, node = named[0]
    return f"no kernel for node '{node.name}', {_signature(node, around)}"


def _graphs(graph: Graph) -> Iterator[Graph]:
    yield graph
    for subgraph in (each for node in graph.nodes for each in node.subgraphs):
        yield from _graphs(subgraph)


def _signature(node: Node, graph: Graph) -> str:
    """`Gelu-20(float16) -> float16`"""
    taken = ", ".join(graph.value(name).element or "unknown" for name in node.inputs if name)
    made = ", ".join(graph.value(name).element or "unknown" for name in node.outputs if name)
    version = f"-{node.since_version}" if node.since_version else ""
    return f"{node.operator}{version}({taken}) -> {made}"
