"""The gain gate: a quantized variant must be smaller or faster than its model, at best both."""

from dataclasses import dataclass

from packager.core.console import size
from packager.core.errors import GateError
from packager.quantization.measurement.latency import Latency

NOISE = 0.05
"""Relative difference between two measurements of one graph: smaller changes of latency do not count."""

SHAVING = 0.01
"""Relative reduction in size that does not count: that of a model whose large layers were all left in float."""


@dataclass(frozen=True, kw_only=True)
class FileSizes:
    """Sizes of a model's files, weights included."""

    float_bytes: int
    quantized_bytes: int

    @property
    def ratio(self) -> float:
        """Quantized size over float size: 0.25 is a quarter."""
        return self.quantized_bytes / self.float_bytes if self.float_bytes else 1.0

    @property
    def is_smaller(self) -> bool:
        return self.ratio < 1 - SHAVING

    @property
    def words(self) -> str:
        return f"{size(self.float_bytes)} becomes {size(self.quantized_bytes)}, {self.ratio:.2f} times the size"


def gate(sizes: FileSizes, latency: Latency | None, *, is_forced: bool = False) -> tuple[str, ...]:
    """Sentences about a variant of these `sizes`; none if it is both smaller and faster.

    Raises GateError if it is neither, unless `is_forced`. Without a measured latency, size decides.
    """
    is_smaller = sizes.is_smaller
    ratio = latency.ratio if latency else 1.0  # 1.0 if the measurement was skipped
    is_faster, is_slower = ratio < 1 - NOISE, ratio > 1 + NOISE
    if not is_smaller and not is_faster:
        refusal = f"the quantized variant is neither smaller ({sizes.words}) nor faster ({_of_time(latency)})"
        if not is_forced:
            raise GateError(refusal, hint="ship the float model, try another quantizer, or force it")
        return (f"{refusal}; it is shipped because it was forced",)
    if is_smaller and is_slower:
        return (f"the quantized variant is smaller ({sizes.words}) and slower ({_of_time(latency)})",)
    if is_faster and not is_smaller:
        return (f"the quantized variant is faster ({_of_time(latency)}) and not smaller ({sizes.words})",)
    return ()


def _of_time(latency: Latency | None) -> str:
    if latency is None or latency.skipped:
        return f"latency was not measured: {latency.skipped}" if latency else "latency was not measured"
    return f"{latency.ratio:.2f} times the latency on {latency.machine}"
