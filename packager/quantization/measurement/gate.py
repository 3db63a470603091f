"""A quantized variant has to be worth something: smaller or faster, at best both."""

from dataclasses import dataclass

from packager.core.console import size
from packager.core.errors import GateError
from packager.quantization.measurement.latency import Latency

NOISE = 0.05
"""Two measurements of one graph may differ by this: so much faster or slower is neither."""

SHAVING = 0.01
"""So much smaller is none: a model whose large layers were all left in float."""


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """The files of a model, weights included."""

    float_bytes: int
    quantized_bytes: int

    @property
    def ratio(self) -> float:
        """Quantized for float: 0.25 is a quarter of the size."""
        return self.quantized_bytes / self.float_bytes if self.float_bytes else 1.0


def gate(sizes: Sizes, latency: Latency | None, *, is_forced: bool = False) -> tuple[str, ...]:
    """What is to be said of a variant of these `sizes`, a sentence each; nothing where all is well.

    Raises GateError for one that is neither smaller nor faster, unless `is_forced`. Where latency was not measured,
    size decides.
    """
    is_smaller = sizes.ratio < 1 - SHAVING
    ratio = latency.ratio if latency else 1.0  # as it is where measuring was skipped
    is_faster, is_slower = ratio < 1 - NOISE, ratio > 1 + NOISE
    if not is_smaller and not is_faster:
        refusal = f"the quantized variant is neither smaller ({_of_size(sizes)}) nor faster ({_of_time(latency)})"
        if not is_forced:
            raise GateError(refusal, hint="ship the float model, try another quantizer, or force it")
        return (f"{refusal}; it is shipped because it was forced",)
    if is_smaller and is_slower:
        return (f"the quantized variant is smaller ({_of_size(sizes)}) and slower ({_of_time(latency)})",)
    if is_faster and not is_smaller:
        return (f"the quantized variant is faster ({_of_time(latency)}) and not smaller ({_of_size(sizes)})",)
    return ()


def _of_size(sizes: Sizes) -> str:
    return f"{size(sizes.float_bytes)} becomes {size(sizes.quantized_bytes)}, {sizes.ratio:.2f} times the size"


def _of_time(latency: Latency | None) -> str:
    if latency is None or latency.skipped:
        return f"latency was not measured: {latency.skipped}" if latency else "latency was not measured"
    return f"{latency.ratio:.2f} times the latency on {latency.machine}"
