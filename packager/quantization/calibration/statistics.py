"""Collects statistics of every tensor over the samples, in memory and in one file."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING
from zipfile import BadZipFile

from packager.files.atomic import atomic_file
from packager.quantization.calibration.histogram import Histogram, add

if TYPE_CHECKING:
    from numpy import float32, float64
    from numpy.typing import NDArray

DAMAGED = (OSError, EOFError, ValueError, KeyError, RuntimeError, BadZipFile)
NOTHING = (float("inf"), float("-inf"))
"""Minimum and maximum of a tensor without elements."""


@dataclass(frozen=True)
class Statistics:
    names: tuple[str, ...]
    extremes: "NDArray[float32]"
    """[samples, tensors, 2]: minimum and maximum; NOTHING for a tensor that a sample left empty"""
    histograms: Mapping[str, Histogram]
    """by tensor, for those that had any elements; empty if only extremes were requested"""


@dataclass
class Collection:
    """Statistics as they grow, one sample after the other: 8 bytes for each tensor and sample, and the histograms."""

    names: tuple[str, ...]
    extremes: "list[NDArray[float32]]" = field(default_factory=list)
    histograms: dict[str, Histogram] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock)

    def exponent(self, name: str) -> int:
        """Exponent of a tensor's bins so far: counting finer ones would be wasted work."""
        return self.histograms[name].exponent if name in self.histograms else -1000

    def count(self, name: str, histogram: Histogram) -> None:
        with self.lock:
            known = self.histograms.get(name)
            self.histograms[name] = add(known, histogram) if known else histogram

    def save(self, path: Path) -> None:
        """Writes all statistics to the file, completely or not at all."""
        import numpy

        seen = [self.histograms[name] for name in self.names if name in self.histograms]
        is_narrow = all(each.counts.max() < 1 << 32 for each in seen)
        counts = [each.counts for each in seen] or [numpy.zeros(0, numpy.int64)]
        with atomic_file(path) as file:
            numpy.savez(
                file,
                names=numpy.array(self.names),
                extremes=numpy.array(self.extremes, numpy.float32).reshape(-1, len(self.names), 2),
                counted=numpy.array([name in self.histograms for name in self.names]),
                bins=numpy.array([(each.exponent, each.first, each.counts.size) for each in seen]).reshape(-1, 3),
                counts=numpy.concatenate(counts, dtype=numpy.uint32 if is_narrow else numpy.uint64, casting="unsafe"),
            )


def load(path: Path) -> Statistics:
    """The statistics that `Collection.save` wrote. Raises one of DAMAGED for an incomplete file."""
    import numpy

    with path.open("rb") as file, numpy.load(file, allow_pickle=False) as arrays:
        names = tuple(map(str, arrays["names"]))
        counted = [name for name, is_counted in zip(names, arrays["counted"], strict=True) if is_counted]
        histograms = dict(zip(counted, _split(arrays["bins"], arrays["counts"]), strict=True))
        return Statistics(names, arrays["extremes"], histograms)


def _split(bins: "NDArray[float64]", counts: "NDArray[float64]") -> Iterator[Histogram]:
    import numpy

    start = 0
    for exponent, first, size in bins.tolist():
        yield Histogram(int(exponent), int(first), counts[start : start + int(size)].astype(numpy.int64))
        start += int(size)
