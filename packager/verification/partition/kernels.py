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
from packager.environments import Environment, ensure
from packager.environments.arm64 import Arm64
from packager.environments.release import Release
from packager.environments.runtime import Runtime, shipped_version
from packager.graph.view import Graph, Node
from packager.models.graphs import read_graph as read_onnx
from packager.session.refusals import explain
from packager.verification.partition.measured import run_child

ARM_ENTRIES = {"session.qdqisint8allowed": "1"}
"""ONNX Runtime's default on ARM. Elsewhere it converts int8 activations to uint8 first, and looks for other kernels."""

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


def prove(compiled: Compiled, scratch: Path) -> KernelProof:
    """Opens `compiled` in the runtime that packages depend on, with only the CPU, which takes every node that no
    provider takes.

    Raises ModelError that names the node, its operator and types if there is no kernel for it, ToolError if that
    runtime is not available.
    """
    variant = compiled.variant
    if compiled.style is Style.CONTEXT:
        return _proof(compiled, 0, skipped="a binary for one chip: only its own provider opens it, on that chip")
    runs_on_arm = bool(compiled.processor)
    environment: Environment = Arm64(runtime="shipped") if runs_on_arm else Runtime()
    try:
        ensure(environment)
    except ToolError as error:
        hint = f'{error.hint}; kernels = "skip" in [check] does without this proof'
        raise ToolError(error.message, hint=hint) from error
    graph = graph_of(compiled)
    answer = run_child(environment, _job(compiled), scratch)
    if "error" in answer:
        raise ModelError(
            f"model '{variant.model.name}' ({variant.name}, {compiled.style}) does not load in ONNX Runtime "
            f"{shipped_version()}, which the package ships: {explained(str(answer['error']), graph)}",
            hint="export with a lower opset, replace the operator, or ship another runtime that has the kernel: "
            "mobpack runtime recipe",
        )
    core = " on an emulated ARM core with FP16" if runs_on_arm else ""
    return _proof(compiled, len(list(graph.all_nodes())), by=f"loaded in ONNX Runtime {shipped_version()}{core}")


def _job(compiled: Compiled) -> dict[str, object]:
    """Opens the file on the CPU, which takes every node that no provider takes."""
    return {
        "task": "load",
        "model": str(compiled.path.absolute()),
        "provider": "cpu",
        "provider_options": {},
        "entries": {**ARM_ENTRIES, **compiled.settings},
        "data_folder": None,
        "optimize": True,
    }


def prove_in(compiled: Compiled, release: str, scratch: Path) -> KernelProof:
    """Opens `compiled` in another release of ONNX Runtime, as `prove` does in the one that ships.

    Raises ModelError if it does not load, ToolError if the release cannot be installed.
    """
    runtime = f"onnxruntime {release}"
    if compiled.style is Style.CONTEXT or compiled.processor:
        what = "a binary for one chip" if compiled.style is Style.CONTEXT else "it computes in 16 bits, on ARM only"
        return skipped(compiled, f"{what}: not opened in this release", runtime=runtime)
    environment = Release(release=release)
    ensure(environment)
    graph, answer = graph_of(compiled), run_child(environment, _job(compiled), scratch)
    if "error" in answer:
        raise ModelError(explained(str(answer["error"]), graph))
    return _proof(compiled, len(list(graph.all_nodes())), by=f"loaded in ONNX Runtime {release}", runtime=runtime)


def skipped(compiled: Compiled, reason: str, *, runtime: str = "") -> KernelProof:
    """A record that nothing was proven, and why."""
    return _proof(compiled, 0, skipped=reason, runtime=runtime)


def declared(compiled: Compiled, runtime: str) -> KernelProof:
    """Proof for a reduced runtime whose operator configuration covers all of `compiled`; it is not opened here."""
    by = "the operator configuration that the runtime was built with has every operator and type; not opened in it"
    return _proof(compiled, len(list(graph_of(compiled).all_nodes())), by=by, runtime=runtime)


def _proof(compiled: Compiled, node_count: int, *, by: str = "", skipped: str = "", runtime: str = "") -> KernelProof:
    return KernelProof(
        model=compiled.variant.model.name,
        variant=compiled.variant.name,
        sha256=compiled.sha256,
        runtime=runtime or f"onnxruntime {shipped_version()}",
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
