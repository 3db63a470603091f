"""Computes ranges of tensors: statistics from the store or from a process that runs the samples, then one of the
methods.

One set of statistics serves every method, target and scheme; a run saves its state every few seconds, so that one that
was killed resumes.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from packager.core import parsing
from packager.core.errors import ConfigError
from packager.core.quantized import Range
from packager.files.leftovers import remove_old
from packager.files.processes import limits
from packager.files.processes.channel import run_with_progress
from packager.files.processes.inherited import users_code
from packager.files.store import Step, Store
from packager.quantization.calibration.child import CalibrationJob
from packager.quantization.calibration.request import HISTOGRAMS, CalibrationRequest, RangeMethod
from packager.quantization.calibration.statistics import Statistics, load
from packager.quantization.calibration.taps import Taps, tap
from packager.quantization.calibration.thresholds import BY_HISTOGRAM, least_and_greatest, moving_average

if TYPE_CHECKING:
    import numpy

STATISTICS = "statistics.npz"
READERS = "packager.samples.reading"
"""Module with the functions that read samples: `CalibrationRequest.samples.reader` names one."""
RANGES = Step(name="ranges", caller=__name__, computed_by=(__name__, READERS))
WATCHED = Step(name="calibration", caller=__name__, computed_by=(__name__, READERS))
UNFINISHED = "unfinished"
"""Folder of the store with statistics of unfinished runs."""
UNFINISHED_DAYS = 7
"""Days that statistics stay which no run goes on with."""


def calibrate(request: CalibrationRequest, store: Store, progress: Callable[[int, int], None]) -> Mapping[str, Range]:
    """The range of every tensor of `request` that has elements; `progress` gets the number of samples done and the
    total.

    Raises ConfigError for samples that cannot be used, ModelError for tensors that cannot be calibrated.
    """
    if not request.samples.count:
        raise ConfigError("no samples to calibrate with", hint="give at least one: 32 to 128 are usual")
    if not request.tensors:
        return {}
    inputs = _inputs(request)
    ranges = store.find(RANGES, [*inputs, request.method.settings])
    if ranges:
        progress(request.samples.count, request.samples.count)
        return _read(ranges, request.tensors)
    taps = tap(request.graph, request.tensors)
    statistics = _statistics(request, taps, store, progress)

    def make(folder: Path) -> None:
        found = ranges_of(load(statistics), taps.sources, request.method)
        text = json.dumps({name: asdict(each) for name, each in found.items()})
        (folder / "ranges.json").write_text(text, encoding="utf-8", newline="\n")

    return _read(store.results(RANGES, [*inputs, request.method.settings], make), request.tensors)


def warnings(request: CalibrationRequest, ranges: Mapping[str, Range]) -> tuple[str, ...]:
    """Warnings about `ranges`, a sentence for each tensor."""
    empty = (f"tensor '{name}' has no elements in any sample" for name in request.tensors if name not in ranges)
    constant = (
        f"tensor '{name}' is {each.low:g} in every sample" for name, each in ranges.items() if each.low == each.high
    )
    return (*empty, *constant)


def ranges_of(statistics: Statistics, sources: Mapping[str, str], method: RangeMethod) -> dict[str, Range]:
    """Tensor -> range by `method`, without tensors that have no elements."""
    columns = {name: statistics.extremes[:, index] for index, name in enumerate(statistics.names)}
    known: dict[str, Range] = {}
    for source in sorted(set(sources.values())):
        extremes = columns[source]
        filled = extremes[extremes[:, 0] <= extremes[:, 1]]
        if len(filled):
            known[source] = _range(statistics, source, filled, method)
    return {name: known[source] for name, source in sources.items() if source in known}


def _range(
    statistics: Statistics, name: str, extremes: "numpy.typing.NDArray[numpy.float32]", method: RangeMethod
) -> Range:
    if method.name == "moving-average":
        return moving_average(extremes, method)
    seen = least_and_greatest(extremes)
    if method.name in BY_HISTOGRAM and seen.low < seen.high:
        return BY_HISTOGRAM[method.name](statistics.histograms[name], seen, method)
    return seen


def _statistics(request: CalibrationRequest, taps: Taps, store: Store, progress: Callable[[int, int], None]) -> Path:
    """The file with the statistics that `request` needs; stored statistics with more are accepted."""
    inputs = _inputs(request)
    for kind in dict.fromkeys((HISTOGRAMS, request.method.kind)):
        if folder := store.find(WATCHED, [*inputs, kind]):
            progress(request.samples.count, request.samples.count)
            return folder / STATISTICS
    key = [*inputs, request.method.kind]
    unfinished = unfinished_file(request, store)
    remove_old(unfinished.parent.glob("*.npz"), days=UNFINISHED_DAYS)

    def make(folder: Path) -> None:
        with store.scratch() as scratch:
            _run(request, taps, scratch, unfinished, folder / STATISTICS, progress)

    made = store.results(WATCHED, key, make)
    unfinished.unlink(missing_ok=True)
    return made / STATISTICS


def unfinished_file(request: CalibrationRequest, store: Store) -> Path:
    """The file for the statistics of `request` until they cover all samples."""
    return store.root / UNFINISHED / f"{WATCHED.key([*_inputs(request), request.method.kind])}.npz"


def _run(
    request: CalibrationRequest,
    taps: Taps,
    scratch: Path,
    unfinished: Path,
    output: Path,
    progress: Callable[[int, int], None],
) -> None:
    graph = scratch / "graph.onnx"
    graph.write_bytes(taps.graph)
    job = CalibrationJob(
        graph=str(graph),
        data_folder=str(request.data_folder),
        inputs=list(taps.inputs),
        fetched=list(taps.fetched),
        has_histograms=request.method.kind == HISTOGRAMS,
        reader=request.samples.reader,
        description=dict(request.samples.description),
        count=request.samples.count,
        threads=request.threads,
        unfinished=str(unfinished),
        output=str(output),
        outputs=str(request.outputs or ""),
        given=list(taps.outputs) if request.outputs else [],
    )
    run_with_progress(
        "packager.quantization.calibration.child",
        asdict(job),
        scratch,
        lambda done: progress(done, request.samples.count),
        crash="ONNX Runtime crashed while it ran the calibration samples",
        hint="check that the model runs on one of the samples with onnxruntime alone",
        inherits=users_code(),
        longest_s=limits.seconds(),
    )


def _inputs(request: CalibrationRequest) -> list[object]:
    """Inputs of statistics, besides their kind."""
    return [
        hashlib.sha256(request.graph).hexdigest(),
        request.weights_sha256,
        sorted(set(request.tensors)),
        request.samples.fingerprint,
        request.samples.count,
        version("onnxruntime"),
    ]


def _read(folder: Path, tensors: Iterable[str]) -> dict[str, Range]:
    found = parsing.json_of((folder / "ranges.json").read_text(encoding="utf-8"))
    return {name: Range(**found[name]) for name in tensors if name in found}
