"""Compares each layer of a quantized graph with the float graph that it was made from.

Both graphs use the same names for the same values; in the quantized one they are the dequantized numbers. The error of
a layer's output therefore accumulates all rounding up to it, and the error of its weight only its own.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from packager.files.processes import limits
from packager.files.processes.channel import run_with_progress
from packager.files.processes.inherited import users_code
from packager.graph.rewriting.draft import Draft
from packager.graph.rewriting.layers import WEIGHTED, limit_behind, name_of
from packager.graph.rewriting.selection import PASSING
from packager.graph.weights.sums import Sums
from packager.quantization.measurement.comparison import ComparisonJob
from packager.quantization.measurement.hosts import as_measured
from packager.quantization.measurement.stored import weight_sums
from packager.quantization.measurement.subject import MeasuredGraph
from packager.samples import Samples

if TYPE_CHECKING:
    from onnx import NodeProto

SAMPLES = 4
"""Number of samples for the comparison of layers: a layer has many thousand numbers in each, and each further sample
costs two runs."""


@dataclass(frozen=True, kw_only=True)
class LayerError:
    """A layer and its quantization errors. Infinity means no difference at all."""

    name: str
    operator: str
    value: str
    """name of its output, after its activation"""
    output_sqnr_db: float
    """of the output, over the samples of `spread`: 10 log10(sum x^2 / sum (x - y)^2)"""
    weight_sqnr_db: float | None
    """of its weight; None if that is in float, or if it has none"""
    becomes: str
    """operator that computes the value in the quantized graph: DequantizeLinear if it is quantized"""
    samples: int
    """number of samples of the comparison"""


@dataclass(frozen=True, kw_only=True)
class _Pair:
    """A layer in both graphs."""

    name: str
    node: "NodeProto"
    value: str


def layer_errors(
    original: MeasuredGraph,
    quantized: MeasuredGraph,
    samples: Samples,
    folder: Path,
    progress: Callable[[int, int], None],
) -> tuple[LayerError, ...]:
    """The layers with weights and those that were quantized or replaced, in the order of the graph.

    `original` is the graph that the quantizer was given; `folder` is scratch space. The samples are those of `spread`.
    Raises ModelError if ONNX Runtime cannot run one of them, ConfigError for samples that fail.
    """
    before, after = _draft(original), _draft(quantized)
    pairs = list(_pairs(before, after))
    if not pairs:
        return ()
    totals = _compared(original, quantized, [pair.value for pair in pairs], samples, folder, progress)
    return tuple(
        LayerError(
            name=pair.name,
            operator=pair.node.op_type,
            value=pair.value,
            output_sqnr_db=totals[pair.value].sqnr_db,
            weight_sqnr_db=found.sqnr_db if (found := weight_sums(before, after, pair.node, pair.value)) else None,
            becomes=after.producers[pair.value].op_type,
            samples=len(spread(samples.count)),
        )
        for pair in pairs
        if pair.value in totals
    )


def _draft(subject: MeasuredGraph) -> Draft:
    import onnx

    proto = onnx.ModelProto.FromString(subject.graph)
    draft = Draft(proto=proto, data_folder=subject.data_folder, weights=None)
    draft.hoist_constants()
    return draft


def _pairs(before: Draft, after: Draft) -> Iterator[_Pair]:
    """The layers to compare, each value once; of equal names, all but the first are replaced by those of the values."""
    values: set[str] = set()
    names: set[str] = set()
    for node in before.graph.node:
        value = _given(before, after, node)
        if not value or value in values or not _is_of_interest(before, after, node, value):
            continue
        name = name_of(node) if name_of(node) not in names else value
        values.add(value)
        names.add(name)
        yield _Pair(name=name, node=node, value=value)


def _given(before: Draft, after: Draft, node: "NodeProto") -> str:
    """The output of `node`, after its activation if that was merged with it; empty if the quantized graph has no such
    value."""
    limit = limit_behind(before, node.output[0]) if node.output else None
    candidates = (*(limit.output if limit else ()), *node.output[:1])
    return next((name for name in candidates if name in after.producers), "")


def _is_of_interest(before: Draft, after: Draft, node: "NodeProto", value: str) -> bool:
    """Whether to compare the layer: one with weights, or one that was quantized or replaced, but not one that only
    passes quantized numbers on."""
    if node.op_type in WEIGHTED:
        return any(name in before.constants for name in node.input)
    becomes = after.producers[value].op_type
    is_passed_on = node.op_type in PASSING and becomes == "DequantizeLinear"
    return becomes != before.producers[value].op_type and not is_passed_on


def _compared(
    original: MeasuredGraph,
    quantized: MeasuredGraph,
    values: list[str],
    samples: Samples,
    folder: Path,
    progress: Callable[[int, int], None],
) -> Mapping[str, Sums]:
    """Value -> sums over the chosen samples, without values that are not floating point."""
    ours = MeasuredGraph(graph=as_measured(quantized.graph, quantized.data_folder), data_folder=quantized.data_folder)
    chosen = spread(samples.count)
    job = ComparisonJob(
        original=str(original.written(folder / "original.onnx")),
        original_folder=str(original.data_folder),
        quantized=str(ours.written(folder / "quantized.onnx")),
        quantized_folder=str(quantized.data_folder),
        values=values,
        reader=samples.reader,
        description=dict(samples.description),
        count=samples.count,
        chosen=chosen,
    )
    answer = run_with_progress(
        "packager.quantization.measurement.comparison",
        asdict(job),
        folder,
        lambda done: progress(done, len(chosen)),
        crash="ONNX Runtime crashed while it compared layers",
        hint="check that the model runs on one of the samples with onnxruntime alone",
        inherits=users_code(),
        longest_s=limits.seconds(),
    )
    return {name: Sums(*sums) for name, sums in answer["sums"].items()}


def spread(count: int) -> list[int]:
    """Indices of the samples for the comparison of layers: SAMPLES of `count`, evenly from the first to the last."""
    if count <= SAMPLES:
        return list(range(count))
    return [number * (count - 1) // (SAMPLES - 1) for number in range(SAMPLES)]
