"""Measures latency on this machine, float beside quantized."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from statistics import median, quantiles
from typing import TYPE_CHECKING, Any

from packager.core.errors import ConfigError, ModelError
from packager.files.processes import commands
from packager.quantization.measurement import hosts, running
from packager.quantization.measurement.subject import MeasuredGraph
from packager.samples import Samples

if TYPE_CHECKING:
    from numpy.typing import NDArray

PROGRAM = Path(__file__).with_name("timing.py")
RUNS, SECONDS = 30, 1.0
"""Each graph runs until it reaches either."""
LEAST_RUNS = 5


@dataclass(frozen=True, kw_only=True)
class Latency:
    """Latency of one run with one thread: medians, and the interquartile ranges."""

    machine: str
    """in words: `x86_64, 1 thread`"""
    float_ms: float = 0.0
    float_spread_ms: tuple[float, float] = (0.0, 0.0)
    """first and third quartile"""
    quantized_ms: float = 0.0
    quantized_spread_ms: tuple[float, float] = (0.0, 0.0)
    run_count: int = 0
    """of each graph"""
    skipped: str = ""
    """why nothing was measured, in words; empty if it was"""

    @property
    def ratio(self) -> float:
        """Quantized latency over float latency: 0.5 is twice as fast."""
        return self.quantized_ms / self.float_ms if self.float_ms else 1.0


def latency(
    original: MeasuredGraph,
    quantized: MeasuredGraph,
    samples: Samples,
    folder: Path,
    *,
    runs: int = RUNS,
    seconds: float = SECONDS,
) -> Latency:
    """Latency on this machine, for the first of `samples`; `folder` is scratch space.

    Raises ModelError if ONNX Runtime cannot run one of the graphs, ConfigError if there is no sample.
    """
    ours = MeasuredGraph(
        graph=hosts.as_measured(quantized.graph, quantized.data_folder), data_folder=quantized.data_folder
    )
    limits = {"runs": runs, "seconds": seconds, "least_runs": LEAST_RUNS}
    times = _times(original, ours, _sample(samples, folder), folder, limits)
    return _summary(times, machine=hosts.in_words())


def _sample(samples: Samples, folder: Path) -> Path:
    """A file with the first of `samples`."""
    import numpy

    found = running.read(samples)
    first = next(iter(islice(found, 1)), None)
    if first is None:
        raise ConfigError("no sample to time the model on", hint="give at least one")
    path = folder / "sample.npz"
    arrays: dict[str, NDArray[Any]] = dict(first)
    with path.open("wb") as file:
        numpy.savez(file, **arrays)  # type: ignore[arg-type]
    return path


def _times(
    original: MeasuredGraph,
    quantized: MeasuredGraph,
    sample: Path,
    folder: Path,
    limits: Mapping[str, float],
) -> list[list[float]]:
    """Milliseconds of every run of both graphs, which alternate in one process."""
    graphs = [
        {"graph": str(each.written(folder / f"timed-{name}.onnx")), "data_folder": str(each.data_folder)}
        for name, each in (("float", original), ("quantized", quantized))
    ]
    answer = commands.run_job(
        [PROGRAM],
        {"graphs": graphs, "sample": str(sample), **limits},
        folder,
        crash="ONNX Runtime crashed during the latency measurement",
        hint="check that the float model runs on the first sample; if it does, it is a bug in ONNX Runtime: "
        "exclude nodes, or choose another quantizer",
    )
    if "error" in answer:
        raise ModelError(
            f"ONNX Runtime cannot run a graph for the latency measurement: {answer['error']}",
            hint="check that the model runs on the first sample",
        )
    times: list[list[float]] = answer["times_ms"]
    return times


def _summary(times: Sequence[Sequence[float]], *, machine: str) -> Latency:
    original, quantized = times
    return Latency(
        machine=machine,
        float_ms=median(original),
        float_spread_ms=_quartiles(original),
        quantized_ms=median(quantized),
        quantized_spread_ms=_quartiles(quantized),
        run_count=len(original),
    )


def _quartiles(times: Sequence[float]) -> tuple[float, float]:
    first, _, third = quantiles(times, n=4, method="inclusive")
    return first, third
