"""How far an output may be from the expected one: |a - b| <= atol + rtol * scale, as ONNX's and PyTorch's tests ask."""

import math
from dataclasses import dataclass, replace

from packager.core.findings import OutputError
from packager.core.values import Precision, Variant
from packager.models.graphs import read_graph
from packager.models.traits import traits
from packager.runners.runner import SUMS_IN_16_BITS

FLOAT32, FLOAT16, QUANTIZED = 1e-3, 1e-2, 5e-2
ATOL_OF_RTOL = 1e-2
"""The absolute part where nobody has said one, as a share of the relative one: 1e-5 beside 1e-3. Kernels that round
more do so with small numbers, too."""
BROKEN_FLOAT16 = 5e-2
"""Of the scale: farther from the model's own numbers no rounding to 16 bits goes."""
FAR, LEAST_SQNR_DB = 0.25, 3.0
"""A quantized output is broken when it is off by more than this share of its scale, and the noise has more
than half of the power of the signal: then it says little of what the model says."""


@dataclass(frozen=True, kw_only=True)
class Tolerance:
    """What must hold for an output; None asks nothing."""

    max_rel_error: float | None = None
    """rtol, as a share of the output's scale"""
    atol: float | None = None
    """what is allowed beside that share; `ATOL_OF_RTOL` of it where None"""
    max_abs_error: float | None = None
    """the largest allowed error, whatever the scale"""
    min_cosine: float | None = None
    min_sqnr_db: float | None = None
    min_top1_agreement: float | None = None

    max_mismatches: int = 0
    """values that may differ where nothing but equality counts: integers, strings, NaN, infinity"""

    near: float | None = None
    """errors up to this share of the output's scale are within, whatever else is asked"""

    def allowed(self, scale: float) -> float | None:
        """The largest error that an output of this scale may have by `max_rel_error`; None where it asks nothing."""
        return None if self.max_rel_error is None else self.atol_of(self.max_rel_error) + self.max_rel_error * scale

    def share(self, error: float, scale: float) -> float:
        """`error` for what is allowed; 0 where it asks nothing."""
        most = self.allowed(scale)
        if most is None or not error:
            return 0.0
        return error / most if most else math.inf

    def judged(self, found: OutputError) -> OutputError:
        """`found` with what is wrong with it, and by what."""
        atol = None if self.max_rel_error is None else self.atol_of(self.max_rel_error)
        return replace(found, rtol=self.max_rel_error, atol=atol, failure=self.failure(found))

    def failure(self, found: OutputError) -> str:
        """Why `found` is over, in words; empty when it is within."""
        if found.mismatch_count > self.max_mismatches:
            kind = "differ" if found.is_exact else "are NaN or infinite in one of the two alone"
            return f"{found.mismatch_count} of {found.number_count} values {kind}"
        if found.is_exact or (self.near is not None and self._is_near(found, self.near)):
            return ""
        return self._over(found) or self._under(found)

    def atol_of(self, rtol: float) -> float:
        """What is allowed beside the share `rtol`."""
        return ATOL_OF_RTOL * rtol if self.atol is None else self.atol

    def _is_near(self, found: OutputError, share: float) -> bool:
        return found.max_abs_error <= self.atol_of(share) + share * found.scale

    def _over(self, found: OutputError) -> str:
        shown = f"max abs error {found.max_abs_error:.3g} of {found.scale:.3g} ({found.scale_from}); allowed is "
        allowed = self.allowed(found.scale)
        if allowed is not None and self.max_rel_error is not None and not found.max_abs_error <= allowed:
            parts = f"{self.atol_of(self.max_rel_error):.3g} + {self.max_rel_error:.3g} x {found.scale:.3g}"
            return f"{shown}{parts} = {allowed:.3g}"
        if self.max_abs_error is not None and not found.max_abs_error <= self.max_abs_error:
            return f"{shown}{self.max_abs_error:g}"
        return ""

    def _under(self, found: OutputError) -> str:
        """What is not as high as it must be. An output without rows has no agreement to speak of, and fails."""
        floors = (
            ("cosine", found.cosine, self.min_cosine),
            ("SQNR in dB", found.sqnr_db, self.min_sqnr_db),
            ("top-1 agreement", found.top1_agreement, self.min_top1_agreement),
        )
        for name, value, least in floors:
            if least is not None and (value is None or not value >= least):
                return f"{name} {'of no rows' if value is None else f'{value:.4g}'}; the least allowed is {least:g}"
        return ""


def default_tolerance(variant: Variant, *, has_sums_in_16_bits: bool = False) -> float:
    """1e-3 where kernels differ in rounding alone, 1e-2 where numbers have 16 bits and 4e-2 where sums have, too; 5e-2
    where activations are quantized: a fused kernel may land one step of 256 away from the unfused ones, a few layers
    pass that on, and the range of the steps may be some times the largest value that a sample gives. A MatMul of
    quantized weights counts among them: ONNX Runtime makes it MatMulNBits, which quantizes what it multiplies them with
    (accuracy level 4).
    """
    graph = read_graph(variant.graph)
    precision = traits(graph).precision
    multiplies = any(node.op in ("MatMul", "MatMulNBits") for node in graph.all_nodes())
    if precision in (Precision.QDQ, Precision.QUANTIZED_OPERATORS) or (
        precision is Precision.WEIGHT_ONLY and multiplies
    ):
        return QUANTIZED
    if precision is Precision.FLOAT16:
        return FLOAT16 + SUMS_IN_16_BITS if has_sums_in_16_bits else FLOAT16
    return FLOAT32


def default_distance(variant: Variant) -> Tolerance:
    """What a variant may be from the user's model before it counts as broken. How good it must be is another question,
    which depends on the task: `max-drop` of the quantizers asks it. A graph whose quantization was taken out may be any
    distance from the model: that is how coarse the model is."""
    if variant.quantizer == "dequantized":
        return Tolerance()
    if traits(read_graph(variant.graph)).precision is Precision.FLOAT16:
        return Tolerance(max_rel_error=BROKEN_FLOAT16)
    return Tolerance(min_sqnr_db=LEAST_SQNR_DB, near=FAR)
