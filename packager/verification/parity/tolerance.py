"""Tolerance of an output: |a - b| <= atol + rtol * scale, as in the tests of ONNX and PyTorch."""

import math
from dataclasses import dataclass, replace

from packager.core.findings import OutputError
from packager.core.values import Precision, Variant
from packager.engines.runners.runner import SUMS_IN_16_BITS
from packager.models.graphs import read_graph

FLOAT32, FLOAT16, QUANTIZED = 1e-3, 1e-2, 5e-2
ATOL_OF_RTOL = 1e-2
"""Default ratio of the absolute to the relative part: 1e-5 for 1e-3. Kernels that round more do so with small numbers,
too."""
BROKEN_FLOAT16 = 5e-2
"""Relative to the scale: rounding to 16 bits never moves a model's outputs farther."""
FAR, LEAST_SQNR_DB = 0.25, 3.0
"""A quantized output is broken if its error exceeds this share of its scale, and the noise has more than half of the
power of the signal: then it has little in common with the model's."""


@dataclass(frozen=True, kw_only=True)
class Tolerance:
    """Requirements on an output; None requires nothing."""

    max_rel_error: float | None = None
    """rtol, relative to the output's scale"""
    atol: float | None = None
    """the absolute part besides that; `ATOL_OF_RTOL` of it if None"""
    max_abs_error: float | None = None
    """the largest allowed error, whatever the scale"""
    min_cosine: float | None = None
    min_sqnr_db: float | None = None
    min_top1_agreement: float | None = None

    max_mismatches: int = 0
    """number of values that may differ where they must be equal: integers, strings, NaN, infinity"""

    near: float | None = None
    """errors up to this share of the output's scale pass, whatever else is required"""

    def allowed(self, scale: float) -> float | None:
        """The largest error that `max_rel_error` allows an output of this scale; None if there is no limit."""
        return None if self.max_rel_error is None else self.atol_of(self.max_rel_error) + self.max_rel_error * scale

    def share(self, error: float, scale: float) -> float:
        """`error` relative to the limit; 0 if there is none."""
        most = self.allowed(scale)
        if most is None or not error:
            return 0.0
        return error / most if most else math.inf

    def judged(self, found: OutputError) -> OutputError:
        """`found` with its failure, and the tolerance."""
        atol = None if self.max_rel_error is None else self.atol_of(self.max_rel_error)
        return replace(found, rtol=self.max_rel_error, atol=atol, failure=self.failure(found))

    def failure(self, found: OutputError) -> str:
        """The failure of `found` in words; empty if there is none."""
        if found.mismatch_count > self.max_mismatches:
            kind = "differ" if found.is_exact else "are NaN or infinite in only one of the two"
            return f"{found.mismatch_count} of {found.number_count} values {kind}"
        if found.is_exact or (self.near is not None and self._is_near(found, self.near)):
            return ""
        return self._over(found) or self._under(found)

    def atol_of(self, rtol: float) -> float:
        """The absolute part for the relative part `rtol`."""
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
        """Metrics that are lower than required. An output without rows has no agreement to measure, and fails."""
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
    """1e-3 if kernels differ only in rounding, 1e-2 if numbers have 16 bits and 4e-2 if sums have, too; 5e-2 if
    activations are quantized: a fused kernel may land one step of 256 away from the unfused ones, a few layers pass
    that on, and the range of the steps may be a multiple of the largest value of a sample. A MatMul of quantized
    weights counts among them: ONNX Runtime makes it MatMulNBits, which quantizes its activations (accuracy level 4)."""
    precision = variant.traits.precision
    if precision in (Precision.QDQ, Precision.QUANTIZED_OPERATORS) or (
        precision is Precision.WEIGHT_ONLY and _multiplies(variant)
    ):
        return QUANTIZED
    if precision is Precision.FLOAT16:
        return FLOAT16 + SUMS_IN_16_BITS if has_sums_in_16_bits else FLOAT16
    return FLOAT32


def _multiplies(variant: Variant) -> bool:
    return any(node.op in ("MatMul", "MatMulNBits") for node in read_graph(variant.graph).all_nodes())


def default_distance(variant: Variant) -> Tolerance:
    """Distance from the user's model above which a variant counts as broken. Its accuracy is another question, which
    depends on the task: the `max-drop` of the quantizers decides that. A graph whose quantization was removed may be at
    any distance from the model, which depends on the model's own steps."""
    if variant.quantizer == "dequantized":
        return Tolerance()
    if variant.traits.precision is Precision.FLOAT16:
        return Tolerance(max_rel_error=BROKEN_FLOAT16)
    return Tolerance(min_sqnr_db=LEAST_SQNR_DB, near=FAR)
