"""Mends what ONNX's checker refuses and ONNX Runtime understands, where it can mean one thing only.

Every repair is a phrase for the user. The checker still refuses what is ambiguous.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from packager.core.errors import ModelError
from packager.core.values import data_folder
from packager.graph import traversal
from packager.graph.constants import fed_inputs
from packager.graph.rewriting.finishing import FIRST_WITH_OWN_INITIALIZERS
from packager.graph.weights.places import chunks_of, source_of
from packager.models.opsets import RUNTIME_DOMAINS

if TYPE_CHECKING:
    from onnx import GraphProto, ModelProto, NodeProto, TensorProto

ALIAS = "ai.onnx"
"""Another spelling of the empty domain, that of ONNX's own operators."""
NEWEST = 8
"""Number that no opset of another domain than ONNX's exceeds."""


def repair(proto: "ModelProto", path: Path) -> tuple[str, ...]:
    """Repairs `proto`, read from `path`, in place; returns what was done, in phrases.

    Raises ModelError for a model that does not say which operators it uses: ONNX Runtime takes the newest that it has,
    and so another one each year.
    """
    graphs = list(traversal.all_graphs(proto))
    # functions have opsets of their own
    nodes = traversal.nodes_in(proto.graph.node) if proto.functions else (node for each in graphs for node in each.node)
    return (
        *_one_opset_each(proto),
        *_missing_opsets(proto, _operators(nodes), path),
        *_graph_names(graphs),
        *_constants(proto, graphs, data_folder(path)),
        *_defaults(proto),
    )


def _operators(nodes: "Iterable[NodeProto]") -> dict[str, set[str]]:
    """Domain -> the operators that are used of it; ONNX's own domain gets one spelling."""
    used: dict[str, set[str]] = {}
    for node in nodes:
        if node.domain == ALIAS:
            node.domain = ""
        used.setdefault(node.domain, set()).add(node.op_type)
    return used


def _one_opset_each(proto: "ModelProto") -> Iterator[str]:
    """Keeps the last of several versions, as ONNX Runtime does."""
    found: dict[str, int] = {}
    for entry in proto.opset_import:
        domain = "" if entry.domain == ALIAS else entry.domain
        if found.get(domain, entry.version) != entry.version:
            yield f"of two opsets of {domain or ALIAS} the last counts, {entry.version}"
        found[domain] = entry.version
    if len(found) < len(proto.opset_import):
        del proto.opset_import[:]
        for domain, version in found.items():
            proto.opset_import.add(domain=domain, version=version)


def _missing_opsets(proto: "ModelProto", used: Mapping[str, set[str]], path: Path) -> Iterator[str]:
    """Adds the opsets of ONNX Runtime's other operators."""
    own = {function.domain for function in proto.functions}
    known = {"" if entry.domain == ALIAS else entry.domain for entry in proto.opset_import}
    for domain in sorted(used.keys() - known - own):
        if not domain:
            raise ModelError(
                f"{path}: the model does not say which opset its operators are of",
                hint="add its version to opset_import, as onnx.helper.make_opsetid does, or export the model again",
            )
        if domain in RUNTIME_DOMAINS:
            version = _newest(domain, used[domain])
            proto.opset_import.add(domain=domain, version=version)
            yield f"the missing opset of {domain} is {version}"


def _newest(domain: str, operators: set[str]) -> int:
    """The newest version of `domain` that has all `operators`; 1 for those that ONNX does not know."""
    from onnx import defs

    for version in range(NEWEST, 1, -1):
        try:
            schemas = [defs.get_schema(operator, version, domain) for operator in operators]
        except defs.SchemaError:
            return 1
        newest = max(schema.since_version for schema in schemas)
        if version == newest and not any(schema.deprecated for schema in schemas):
            return version
    return 1


def _graph_names(graphs: "Sequence[GraphProto]") -> Iterator[str]:
    unnamed = [graph for graph in graphs if not graph.name]
    for graph in unnamed:
        graph.name = "graph"
    if unnamed:
        yield "a graph without a name has one"


def _constants(proto: "ModelProto", graphs: "Sequence[GraphProto]", folder: Path) -> Iterator[str]:
    """Drops constants without a name, which nothing can take, and equal ones of one name; others are ambiguous."""
    for graph in graphs:
        seen: dict[str, TensorProto] = {}
        kept = []
        for tensor in graph.initializer:
            first = seen.setdefault(tensor.name, tensor) if tensor.name else None
            if first is tensor:
                kept.append(tensor)
            elif first is not None and not _is_same(first, tensor, folder):
                return  # the checker names it
        if len(kept) < len(graph.initializer):
            del graph.initializer[:]
            graph.initializer.extend(kept)
            yield "constants that are there twice, or have no name, are dropped"
    fed = {value.name for value in proto.graph.input}
    if proto.ir_version < FIRST_WITH_OWN_INITIALIZERS and any(each.name not in fed for each in proto.graph.initializer):
        proto.ir_version = FIRST_WITH_OWN_INITIALIZERS
        yield f"constants that are no inputs need IR version {FIRST_WITH_OWN_INITIALIZERS}"


def _defaults(proto: "ModelProto") -> Iterator[str]:
    """Makes inputs that have a value in the model constants: no app feeds them, and XNNPACK, Core ML and ONNX Runtime's
    optimizer leave nodes alone whose weights an app could replace (graph_viewer.h, `GetConstantInitializer`).

    Before IR version 4 every constant is an input, too, and ONNX Runtime takes it as a constant.
    """
    if proto.ir_version < FIRST_WITH_OWN_INITIALIZERS:
        return
    kept = fed_inputs(proto.graph)
    names = {value.name for value in kept}
    if dropped := [value.name for value in proto.graph.input if value.name not in names]:
        more = f" and {len(dropped) - 1} more" if len(dropped) > 1 else ""
        yield f"inputs that have a value in the model are constants: '{dropped[0]}'{more}"
        del proto.graph.input[:]
        proto.graph.input.extend(kept)


def _is_same(one: "TensorProto", other: "TensorProto", folder: Path) -> bool:
    """Whether both have the same numbers, which may lie in files of `folder`."""
    if one == other or one.data_location != one.EXTERNAL or other.data_location != other.EXTERNAL:
        return one == other
    sources = (source_of(one, folder), source_of(other, folder))
    if (one.data_type, *one.dims) != (other.data_type, *other.dims) or sources[0].length != sources[1].length:
        return False
    return all(a == b for a, b in zip(*map(chunks_of, sources), strict=True))
