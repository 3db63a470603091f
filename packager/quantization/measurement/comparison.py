"""Runs two graphs on the same samples and compares their values.

It is started by `python -m packager.quantization.measurement.comparison JOB.json`.

Prints JSON lines: `{"done": samples}` for progress, at last `{"sums": {value: [signal, noise, product, other]}}`, or
the failure as `{"failed": class in packager.core.errors, "message", "hint"}`. Holds only sums, and the values of one
stretch of both graphs for one sample.
"""

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from packager.core.errors import ModelError
from packager.core.parsing import Json
from packager.engines.session.refusals import is_refusal
from packager.files.processes.channel import Channel
from packager.graph.rewriting.stretched import FLOATS, Stretched, values_of
from packager.graph.rewriting.stretches import GROUP_BYTES, grouped, sizes_of
from packager.graph.weights.sums import Sums, sums_of
from packager.quantization.measurement.running import as_runtime_wants, in_one_line, opened, read
from packager.samples import Samples

if TYPE_CHECKING:
    from onnx import ModelProto


@dataclass(frozen=True, kw_only=True)
class ComparisonJob:
    original: str
    """file with the float graph"""
    original_folder: str
    """of its external data"""
    quantized: str
    quantized_folder: str
    values: list[str]
    """of both graphs, in the order of the float one"""
    reader: str
    description: Json
    count: int
    chosen: list[int]
    """numbers of the samples that are compared"""
    group_bytes: int = GROUP_BYTES
    """maximum size of the values that are held at once; results do not depend on it"""


Graphs = tuple[Stretched, Stretched]


def compared(job: ComparisonJob, channel: Channel) -> dict[str, Sums]:
    """Sums over the chosen samples, for the values that are floating point in both graphs."""
    totals: dict[str, Sums] = {}
    graphs: Graphs | None = None
    samples = Samples(reader=job.reader, description=job.description, count=job.count)
    chosen = ((number, each) for number, each in enumerate(read(samples)) if number in job.chosen)
    for done, (number, sample) in enumerate(chosen, 1):
        graphs = graphs or _opened(job, sample)
        for name, sums in _of_sample(graphs, sample, number):
            totals[name] = totals.get(name, Sums()) + sums
        channel.say({"done": done})
    return totals


def _opened(job: ComparisonJob, sample: dict[str, Any]) -> Graphs:
    """Both graphs in stretches, divided by the sizes that `sample` gives."""
    original, quantized = _parsed(job.original), _parsed(job.quantized)
    shapes = {name: array.shape for name, array in sample.items()}
    groups = grouped(job.values, sizes_of(original, job.values, shapes), job.group_bytes)
    return (
        Stretched(original, groups, lambda graph, entries: opened(graph, job.original_folder, entries)),
        Stretched(quantized, groups, lambda graph, entries: opened(graph, job.quantized_folder, entries)),
    )


def _parsed(path: str) -> "ModelProto":
    import onnx

    proto: ModelProto = onnx.ModelProto.FromString(Path(path).read_bytes())
    return proto


def _of_sample(graphs: Graphs, sample: dict[str, Any], number: int) -> Iterator[tuple[str, Sums]]:
    import onnxruntime

    feeds = {name: onnxruntime.OrtValue.ortvalue_from_numpy(as_runtime_wants(each)) for name, each in sample.items()}
    original, quantized = graphs
    for ours, theirs in _together([original.run(feeds), quantized.run(feeds)], number):
        while ours:
            name = next(iter(ours))
            one, other = ours.pop(name), theirs.pop(name)
            if original.types[name] in FLOATS and quantized.types[name] in FLOATS:
                yield name, _sums(name, one, other, number)


def _together(runs: "Sequence[Iterator[dict[str, Any]]]", number: int) -> Iterator[list[dict[str, Any]]]:
    """The values of every run after each stretch. Raises ModelError for a sample that ONNX Runtime refuses."""
    while True:
        try:
            found = [each for run in runs if (each := next(run, None)) is not None]
        except Exception as error:
            if not is_refusal(error):
                raise
            raise ModelError(
                f"ONNX Runtime cannot run sample {number}: {in_one_line(error)}",
                hint="fix the sample, or remove it",
            ) from error
        if not found:
            return
        yield found


def _sums(name: str, one: Any, other: Any, number: int) -> Sums:
    x, y = values_of(one), values_of(other)
    if x.shape != y.shape:
        raise ModelError(
            f"value '{name}' has shape {list(y.shape)} on sample {number}, and {list(x.shape)} in the float model",
            hint="pass the graph that the quantized one was made from",
        )
    return sums_of(x, y)


def main() -> int:
    job = ComparisonJob(**json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
    channel = Channel.taken_over()
    channel.answer(lambda: {"sums": {name: astuple(sums) for name, sums in compared(job, channel).items()}})
    return 0


if __name__ == "__main__":
    sys.exit(main())
