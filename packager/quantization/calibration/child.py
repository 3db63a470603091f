"""Records the tensors of a graph while samples run: `python -m packager.quantization.calibration.child JOB.json`.

A child process, because ONNX Runtime crashes on some models, and because all its memory is released. Prints only JSON
lines: `{"done": samples}` for progress, at last `{"ok": {}}` or the failure as `{"failed": class in
packager.core.errors, "message", "hint"}`.
"""

import ctypes
import json
import sys
import time
from collections import deque
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from packager.core.errors import ConfigError, ModelError
from packager.core.parsing import Json
from packager.engines.session import exact
from packager.engines.session.refusals import is_refusal
from packager.files.processes.channel import Channel
from packager.graph.rewriting.stretched import FLOATS, Stretched
from packager.graph.rewriting.stretches import GROUP_BYTES, grouped, sizes_of
from packager.quantization.calibration.observer import Observer
from packager.quantization.calibration.statistics import DAMAGED, Collection, load

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

SAVE_EVERY_S = 3.0
MOST_OF_TIME = 0.05
"""Maximum share of the time to spend on saving."""


@dataclass(frozen=True, kw_only=True)
class CalibrationJob:
    graph: str
    """file with the serialized ModelProto"""
    data_folder: str
    """folder of its external data"""
    inputs: list[str]
    fetched: list[str]
    has_histograms: bool
    reader: str
    """`module:function` that turns `description` into samples"""
    description: Json
    count: int
    threads: int
    unfinished: str
    """file with the statistics so far: read first if it exists, written every few seconds"""
    output: str
    """file for the statistics of all samples"""
    outputs: str = ""
    """folder in which to record the `given` values of every sample; empty to record none"""
    given: list[str] = field(default_factory=list)
    """outputs of the graph"""
    save_every_s: float = SAVE_EVERY_S
    group_bytes: int = 2 * GROUP_BYTES
    """maximum size of the values that are held at once, over all threads; ranges do not depend on it"""


@dataclass
class Run:
    """Samples in progress, whose extremes are entered in their order, whichever thread finishes first."""

    job: CalibrationJob
    collection: Collection
    channel: Channel
    waiting: "deque[Future[NDArray[float32]]]" = field(default_factory=deque)
    save_at: float = 0.0

    def enter_next(self) -> None:
        self.collection.extremes.append(self.waiting.popleft().result())
        self.channel.say({"done": len(self.collection.extremes)})

    def enter_all(self) -> None:
        while self.waiting:
            self.enter_next()

    def save_if_due(self) -> None:
        started = time.monotonic()
        if started >= self.save_at:
            self.enter_all()  # histograms must not be ahead of the number of samples
            if self.save_at:
                self.collection.save(Path(self.job.unfinished))
            now = time.monotonic()
            self.save_at = now + max(self.job.save_every_s, (now - started) / MOST_OF_TIME)


def watch(job: CalibrationJob, channel: Channel) -> None:
    """Runs the samples that the unfinished statistics lack and writes those of all."""
    collection = _begun(job)
    done = len(collection.extremes)
    samples = enumerate(islice(samples_of(job.reader, job.description), done, None), done)
    first = list(islice(samples, 1))
    observer = Observer(
        stretched=_stretched(job, first[0][1]) if (job.fetched or job.given) and first else None,
        inputs=tuple(job.inputs),
        fetched=tuple(job.fetched),
        has_histograms=job.has_histograms,
        collection=collection,
        outputs=Path(job.outputs),
        given=tuple(job.given),
    )
    run = Run(job, collection, channel)
    with ThreadPoolExecutor(job.threads) as pool:
        for number, sample in chain(first, samples):
            run.save_if_due()
            while len(run.waiting) >= job.threads:
                run.enter_next()
            run.waiting.append(pool.submit(observer.observe, number, sample))
        run.enter_all()
    if len(collection.extremes) != job.count:
        raise ConfigError(
            f"{len(collection.extremes)} samples could be read, {job.count} were expected",
            hint="do not change the samples while they are read, and run again"
            if collection.extremes
            else "give at least one sample",
        )
    collection.save(Path(job.output))


def _begun(job: CalibrationJob) -> Collection:
    """The statistics that an earlier process left, or empty ones."""
    names = (*job.inputs, *job.fetched)
    with suppress(*DAMAGED):
        known = load(Path(job.unfinished))
        if known.names == names:
            return Collection(names, list(known.extremes), dict(known.histograms))
    return Collection(names)


def _stretched(job: CalibrationJob, sample: "Mapping[str, NDArray[Any]]") -> Stretched:
    """The graph in stretches, divided by the sizes that `sample` gives. Raises ModelError if ONNX Runtime refuses it,
    or for a value that has no floating-point range."""
    import onnx

    proto = onnx.ModelProto.FromString(Path(job.graph).read_bytes())
    sizes = sizes_of(proto, job.fetched, {name: array.shape for name, array in sample.items()})
    groups = grouped(job.fetched, sizes, job.group_bytes // job.threads)
    unseen = [name for name in job.given if name not in job.fetched]
    groups += [unseen] if unseen else []
    found = Stretched(proto, groups, lambda graph, entries: opened(graph, job.data_folder, entries))
    give_memory_back()
    for name in job.fetched:
        if found.types[name] not in FLOATS:
            raise ModelError(
                f"tensor '{name}' is a {found.types[name]}: it has no floating-point range",
                hint="remove it from the tensors",
            )
    return found


def opened(graph: bytes, data_folder: str, entries: Mapping[str, str], threads: int = 1) -> Any:
    """A session of `graph`. Raises ModelError if ONNX Runtime refuses it."""
    try:
        return exact.opened(graph, data_folder, lambda: _options(entries, threads))
    except Exception as error:
        if not is_refusal(error):
            raise
        raise ModelError(
            f"ONNX Runtime refuses the graph: {error}", hint="check that it runs before it is calibrated"
        ) from error


def _options(entries: Mapping[str, str], threads: int) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads  # two samples at once use two cores better
    options.enable_mem_pattern = False  # a single block for the whole run could not be freed value by value
    options.log_severity_level = 3
    for key, value in entries.items():
        options.add_session_config_entry(key, value)
    return options


def give_memory_back() -> None:
    """Returns freed memory to the system, including a second copy of the weights from loading; malloc would keep it."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
    if trim:  # glibc has it, musl does not
        trim(0)


def samples_of(reader: str, description: Json) -> Iterator[dict[str, Any]]:
    """The samples that `reader`, `module:function`, makes of `description`."""
    module, function = reader.split(":")
    samples: Iterator[dict[str, Any]] = getattr(import_module(module), function)(description)
    return samples


def main() -> int:
    job = CalibrationJob(**json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
    channel = Channel.taken_over()

    def work() -> dict[str, object]:
        watch(job, channel)
        return {"ok": {}}

    channel.answer(work)
    return 0


if __name__ == "__main__":
    sys.exit(main())
