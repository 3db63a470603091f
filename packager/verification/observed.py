"""Checks inferred shapes against a run: ONNX's inference and ONNX Runtime's kernels do not always round alike.

An inferred size that the run refutes would be written into files, and ONNX Runtime would compute with it: it folds
`Shape`. Where the two differ, the run is right, and a Reshape behind the node says so to everyone who infers again.
Shapes that the graph computes and that follow from those become constants.
"""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from packager.core import parsing
from packager.core.console import Console
from packager.core.errors import ModelError
from packager.core.values import Model, baseline
from packager.files.store import Step, Store, key_of
from packager.graph import traversal
from packager.graph.names import all_names, free_name
from packager.models import rebuilt, with_constant_shapes
from packager.models.shapes import infer_shapes
from packager.verification import inner_pools
from packager.verification.inner_pools import in_words, put_behind

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto, ValueInfoProto

OBSERVED = Step(name="observed", caller=__name__, computed_by=(__name__, "packager.verification.parity"))
ROUNDING = ("DFT", "Resize", "STFT", "Upsample")
"""Operators that compute a size from numbers, which may be rounded in several ways."""
ROUNDING_WITH = {"AveragePool": "ceil_mode", "ConvTranspose": "auto_pad", "LpPool": "ceil_mode", "MaxPool": "ceil_mode"}
"""Operators that do so only with an attribute. All others agree: a test draws models of each."""
FIRST_RESHAPE = 5
"""First opset in which Reshape takes a shape as an input."""

Shape = tuple[int, ...]
Dims = tuple[int | None, ...]
"""an inferred shape; None for a size that is not known"""


def with_observed_shapes(model: Model, store: Store, console: Console) -> Model:
    """`model`, which must be hashed, with inferred shapes that one run on random inputs bears out, and with constants
    in the place of shapes that follow. Only a model with an operator that rounds sizes is run."""
    return with_constant_shapes(_borne_out(model, store, console))


def _borne_out(model: Model, store: Store, console: Console) -> Model:
    import onnx

    proto = onnx.ModelProto.FromString(model.graph)
    if told := inner_pools.correct(proto):
        for sentence in told:
            console.say(f"  model '{model.name}': {sentence}")
        model = rebuilt(model, proto)
        proto = onnx.ModelProto.FromString(model.graph)
    names = _doubtful(proto)
    if not names:
        return model

    def make(folder: Path) -> None:
        with store.scratch() as scratch:
            found = _observed(model, proto, names, scratch)
        (folder / "shapes.json").write_text(json.dumps(found), encoding="utf-8", newline="\n")

    try:
        folder = store.results(OBSERVED, [key_of(model.graph.hex()), model.sha256], make)
    except ModelError:
        return model  # it runs on no random input: there is nothing to compare with
    observed = {name: tuple(shape) for name, shape in parsing.json_of((folder / "shapes.json").read_text()).items()}
    if not _refuted(proto, observed):
        return model
    for sentence in _correct(proto, observed):
        console.say(f"  model '{model.name}': {sentence}")
    return rebuilt(model, proto)


def _doubtful(proto: "ModelProto") -> list[str]:
    """The tensors of the main graph with an inferred shape that depends on a node that rounds; none for most models."""
    if not any(map(_rounds, traversal.all_nodes(proto))):
        return []
    doubtful: set[str] = set()
    functions = {(each.domain, each.name) for each in proto.functions}
    for node in proto.graph.node:
        inner = [each for graph in traversal.subgraphs(node) for each in traversal.nodes_in(graph.node)]
        is_doubtful = (node.domain, node.op_type) in functions or any(map(_rounds, (node, *inner)))
        if is_doubtful or doubtful & traversal.taken_by(node):
            doubtful |= {name for name in node.output if name}
    return [name for name in _inferred(proto) if name in doubtful]


def _rounds(node: "NodeProto") -> bool:
    wanted = ROUNDING_WITH.get(node.op_type)
    return node.op_type in ROUNDING or any(each.name == wanted for each in node.attribute)


def _inferred(proto: "ModelProto") -> dict[str, Dims]:
    """The tensors of the main graph whose number of dimensions is known."""
    values = (*proto.graph.value_info, *proto.graph.output)
    return {value.name: _dims(value) for value in values if value.type.tensor_type.HasField("shape")}


def _dims(value: "ValueInfoProto") -> Dims:
    return tuple(each.dim_value if each.HasField("dim_value") else None for each in value.type.tensor_type.shape.dim)


def _observed(model: Model, proto: "ModelProto", names: Sequence[str], scratch: Path) -> dict[str, list[int]]:
    """The shapes of `names` in a run. Raises ModelError if the model accepts no random input."""
    from packager.verification import parity  # few models are run: the import takes longer than all else here
    from packager.verification.parity.outcomes import array_of

    graph = _telling(proto, names)
    accepted = parity.random_inputs(baseline(replace(model, graph=graph)), scratch, count=1, seed=0)
    numbers = iter(array_of(accepted.outcomes[0], 0).tolist())
    return {name: [next(numbers) for _ in range(next(numbers))] for name in names}


def _telling(proto: "ModelProto", names: Sequence[str]) -> bytes:
    """The graph without inferred shapes, and with one output: the number of dimensions and the sizes of all `names`."""
    from onnx import ModelProto, TensorProto, helper

    told = ModelProto()
    told.CopyFrom(proto)
    for graph in traversal.all_graphs(told):
        del graph.value_info[:]
        for value in graph.output:
            value.type.tensor_type.ClearField("shape")
    taken, parts = all_names(told), []
    for name in names:
        shape, rank = (_new(f"{name}_{what}", taken) for what in ("shape", "rank"))
        told.graph.node.append(helper.make_node("Shape", [name], [shape]))
        told.graph.node.append(helper.make_node("Shape", [shape], [rank]))
        parts += [rank, shape]
    output = _new("shapes", taken)
    told.graph.node.append(helper.make_node("Concat", parts, [output], axis=0))
    del told.graph.output[:]
    told.graph.output.append(helper.make_tensor_value_info(output, TensorProto.INT64, [None]))
    return bytes(told.SerializeToString(deterministic=True))


def _new(name: str, taken: set[str]) -> str:
    free = free_name(name, taken)
    taken.add(free)
    return free


def _refuted(proto: "ModelProto", observed: Mapping[str, Shape]) -> dict[str, Dims]:
    """The tensors whose inferred shape is not the observed one."""
    return {
        name: dims
        for name, dims in _inferred(proto).items()
        if name in observed
        and (
            len(dims) != len(observed[name])
            or any(known not in (None, seen) for known, seen in zip(dims, observed[name], strict=True))
        )
    }


def _correct(proto: "ModelProto", observed: Mapping[str, Shape]) -> Iterator[str]:
    """Writes the observed sizes into `proto`, node by node from its inputs on; yields a sentence for each node."""
    done: set[str] = set()
    while refuted := _refuted(proto, observed):
        node, name = _first(proto, refuted)
        dims, seen = refuted[name], observed[name]
        if name in done or len(dims) != len(seen) or _opset(proto) < FIRST_RESHAPE:
            _forget(proto, refuted, observed)
            return
        done.add(name)
        yield (
            f"{node.op_type} '{node.name or name}' gives {in_words(seen)}, where ONNX's shape inference says "
            f"{in_words(dims)}: a Reshape behind it keeps the sizes of the run"
        )
        put_behind(
            proto,
            proto.graph,
            node,
            name,
            tuple(0 if one in (None, other) else other for one, other in zip(dims, seen, strict=True)),
        )
        _forget(proto, refuted, observed)
        proto.CopyFrom(infer_shapes(proto))


def _first(proto: "ModelProto", refuted: Mapping[str, Dims]) -> "tuple[NodeProto, str]":
    found = ((node, name) for node in proto.graph.node for name in node.output if name in refuted)
    return next(found)


def _forget(proto: "ModelProto", refuted: Collection[str], observed: Mapping[str, Shape]) -> None:
    """Removes the inferred sizes of the `refuted` tensors; ONNX requires the number of dimensions of an output."""
    for value in (*proto.graph.value_info, *proto.graph.output):
        if value.name in refuted:
            shape = value.type.tensor_type.shape
            shape.Clear()
            for _ in observed[value.name]:
                shape.dim.add()


def _opset(proto: "ModelProto") -> int:
    return max((entry.version for entry in proto.opset_import if entry.domain in ("", "ai.onnx")), default=1)
