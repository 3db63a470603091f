"""Finds values of a float graph that its float16 variant cannot hold.

ONNX Runtime's CPU computes many operators of float16 graphs in 32 bits: running the variant there does not show what
becomes infinity on a processor or provider that computes in 16.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from packager.core import parsing
from packager.core.console import Console
from packager.core.errors import ModelError
from packager.engines.runners import RUNNERS, Runnable
from packager.files.store import Step, Store, key_of
from packager.graph.names import all_names, free_name
from packager.graph.rewriting.draft import Draft, draft_of
from packager.graph.rewriting.elements import elements_of
from packager.graph.weights.half import LARGEST
from packager.quantization.variants import BuiltVariant
from packager.quantization.worth import samples_for
from packager.samples import Samples, write_arrays
from packager.samples.reading import open_described

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto

OVERFLOW = Step(
    name="overflow", caller=__name__, computed_by=(__name__, "packager.quantization.worth", "packager.samples.reading")
)
SHOWN = 5
"""Number of values that are named."""
OLDEST_OPSET = 7
"""First opset in which comparisons take a number beside a tensor."""


def warn_of_overflows(made: BuiltVariant, given: Samples | None, store: Store, console: Console) -> None:
    """Warns of values that exceed float16 on samples of the model: the `given` ones, or random ones."""
    found = overflows(made, given, store, console)
    if not found:
        return
    shown = ", ".join(f"'{name}' ({count:,} numbers)" for name, count in list(found.items())[:SHOWN])
    more = f" and {len(found) - SHOWN:,} more" if len(found) > SHOWN else ""
    console.warn(
        f"model '{made.variant.model.name}', variant '{made.variant.name}': values exceed {LARGEST:,.0f}, the largest "
        f"number of float16: {shown}{more}; they become infinity where 16 bits are computed, though not on this CPU: "
        "keep the nodes that compute them in 32 bits (exclude, or keep-operators)"
    )


def overflows(made: BuiltVariant, given: Samples | None, store: Store, console: Console) -> dict[str, int]:
    """Value -> how many of its finite numbers exceed float16 over all samples; only values that have some. Nothing for
    a variant without float16."""
    variant, model = made.variant, made.variant.model
    float_graph = draft_of(made.graph, model.data_folder)
    names = _narrowed(float_graph, draft_of(variant.graph, variant.data_folder))
    if not names or float_graph.opset < OLDEST_OPSET:
        return {}
    counting = _counting(float_graph.proto, names)
    fingerprint = given.fingerprint if given else "random"

    def make(folder: Path) -> None:
        with console.step(f"look for numbers beyond float16 in {model.name}"), store.scratch() as scratch:
            counts = _counted(counting, made, given, scratch)
        (folder / "overflow.json").write_text(json.dumps(counts), encoding="utf-8", newline="\n")

    folder = store.results(OVERFLOW, [key_of(counting.hex()), model.sha256, fingerprint], make)
    counts = parsing.json_of((folder / "overflow.json").read_text(encoding="utf-8"))
    return {name: count for name, count in zip(names, counts, strict=True) if count}


def _narrowed(wide: Draft, narrow: Draft) -> list[str]:
    """The values of the float graph that are float16 in the variant, in its order."""
    from onnx import TensorProto

    before, after = elements_of(wide), elements_of(narrow)
    halves = {name for name, element in after.items() if element == TensorProto.FLOAT16}
    for node in narrow.graph.node:
        if node.op_type == "Cast" and halves.intersection((*node.input, *node.output)):  # a border
            halves |= {*node.input, *node.output}
    computed = [name for node in wide.graph.node for name in node.output]
    values = (*(value.name for value in wide.graph.input), *computed)
    known = dict.fromkeys(name for name in values if before.get(name) == TensorProto.FLOAT)
    return [name for name in known if name in halves and name not in wide.constants]


def _counting(proto: "ModelProto", names: list[str]) -> bytes:
    """The graph with one output: for each of `names`, the count of finite numbers that exceed float16."""
    from onnx import TensorProto, helper

    taken, counts = all_names(proto), []
    for value, number in (("largest", LARGEST), ("infinity", float("inf"))):
        proto.graph.initializer.append(helper.make_tensor(_new(value, taken), TensorProto.FLOAT, [], [number]))
    proto.graph.initializer.append(helper.make_tensor(_new("one", taken), TensorProto.INT64, [1], [1]))
    largest, infinity, one = (tensor.name for tensor in list(proto.graph.initializer)[-3:])
    for name in names:
        *nodes, last = _count(name, largest, infinity, one, taken)
        proto.graph.node.extend((*nodes, last))
        counts.append(last.output[0])
    output = _new("counts", taken)
    proto.graph.node.append(helper.make_node("Concat", counts, [output], axis=0))
    del proto.graph.output[:]
    proto.graph.output.append(helper.make_tensor_value_info(output, TensorProto.FLOAT, [len(names)]))
    return bytes(proto.SerializeToString(deterministic=True))


def _count(name: str, largest: str, infinity: str, one: str, taken: set[str]) -> "Iterator[NodeProto]":
    """Nodes that count the numbers of `name` between `largest` and `infinity`: any shape, also an empty one."""
    from onnx import TensorProto, helper

    size, above, finite, both, ones, total, count = (
        _new(f"{name}_{end}", taken) for end in ("size", "above", "finite", "both", "ones", "total", "count")
    )
    yield helper.make_node("Abs", [name], [size])
    yield helper.make_node("Greater", [size, largest], [above])
    yield helper.make_node("Less", [size, infinity], [finite])
    yield helper.make_node("And", [above, finite], [both])
    yield helper.make_node("Cast", [both], [ones], to=TensorProto.FLOAT)
    yield helper.make_node("ReduceSum", [ones], [total], keepdims=0)
    yield helper.make_node("Reshape", [total, one], [count])


def _new(name: str, taken: set[str]) -> str:
    free = free_name(name, taken)
    taken.add(free)
    return free


def _counted(graph: bytes, made: BuiltVariant, given: Samples | None, scratch: Path) -> list[int]:
    """The sums of the counts over the samples. Raises ModelError if the model does not run on them."""
    import numpy

    model = made.variant.model
    samples, _ = samples_for(model, given, scratch)
    path = scratch / "counting.onnx"
    path.write_bytes(graph)
    total: list[int] = []
    runnable = Runnable(path=path, data_folder=model.data_folder, is_optimized=False)
    with RUNNERS["cpu"]("")[0].open(runnable, scratch) as session:
        for number, sample in enumerate(open_described(samples.description)):
            folder = scratch / f"counts-{number}"
            folder.mkdir()
            write_arrays(folder / "sample.npz", sample)
            outcome = session.run(folder / "sample.npz", folder)
            if outcome.error:
                raise ModelError(
                    f"the model does not run on sample {number}: {outcome.error}", hint="check the samples"
                )
            counts = numpy.load(folder / "0.npy").astype(int)
            total = [sum(pair) for pair in zip(total or [0] * len(counts), counts.tolist(), strict=True)]
    return total
