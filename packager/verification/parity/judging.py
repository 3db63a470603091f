"""Judges one output of a file against the expected one, sample by sample."""

import math
from dataclasses import replace

from packager.core.findings import OutputError
from packager.engines.runners import Outcome
from packager.verification.parity.allclose import Excess, over
from packager.verification.parity.conditioning import Movement
from packager.verification.parity.metrics import Comparison
from packager.verification.parity.outcomes import array_of
from packager.verification.parity.scale import Scale
from packager.verification.parity.settings import ParitySettings

NOISE_DB, TOP1, GAIN = 6.0, 0.1, 1.25
"""Allowed differences if the original is ill-conditioned: twice its own noise, a tenth of the rows, and numbers a
quarter larger or smaller."""


class Judge:
    """The comparison of an output so far."""

    def __init__(self, output: str, index: int, settings: ParitySettings, scale: Scale) -> None:
        self.output, self.index, self.scale = output, index, scale
        self.taken_count = 0
        """number of well-conditioned samples"""
        self._settings = settings
        self._tolerance = settings.tolerance_of(output)
        self._total = Comparison(output, scale)
        self._doubtful, self._own = Comparison(output, scale), Comparison(output, scale)
        """on ill-conditioned samples: the file against the original, and the original against itself"""
        self._worst, self._worst_sample = Excess(), 0
        """by recorded outputs, and the index of the sample"""

    @property
    def is_doubtful(self) -> bool:
        """Whether all samples were ill-conditioned."""
        return not self.taken_count and bool(self._doubtful.sample_count)

    def part(self, expected: Outcome, actual: Outcome) -> Comparison:
        """The comparison of a single sample."""
        found = Comparison(self.output, self.scale)
        a, b = array_of(expected, self.index), array_of(actual, self.index)
        found.add(*((b, a) if self._settings.is_recorded else (a, b)))
        return found

    def share(self, part: Comparison) -> float:
        """Its largest error relative to the general tolerance."""
        return self._settings.general.share(part.result().max_abs_error, self.scale.value)

    def failure(self, part: Comparison) -> str:
        """The failure in words; empty if there is none."""
        return part.reason or self._tolerance.failure(part.result())

    def take(self, part: Comparison, number: int) -> None:
        self._total.absorb(part, number)
        self.taken_count += 1

    def take_recorded(self, computed: Outcome, recorded: Outcome, number: int) -> float:
        """Judges a sample by its recorded outputs; returns the largest error relative to the tolerance."""
        excess = over(array_of(recorded, self.index), array_of(computed, self.index))
        if excess.max_share > self._worst.max_share or (excess.failure and not self._worst.failure):
            self._worst, self._worst_sample = excess, number
        return math.inf if excess.failure and not excess.max_share else excess.max_share

    def moves(self, expected: Outcome, movement: Movement) -> Comparison | None:
        """The original's output against the farthest of its outputs for almost the same inputs; None if all are within
        the tolerance, or not amplified."""
        parts = [self.part(expected, other) for other in movement.outcomes]
        found = [each for each in parts if self.failure(each) and each.result().max_rel_error > movement.least]
        return max(found, key=lambda each: (each.result().max_abs_error, -each.result().sqnr_db), default=None)

    def doubt(self, part: Comparison, own: Comparison, number: int) -> None:
        """Adds a sample on which the original moves by `own`."""
        self._doubtful.absorb(part, number)
        self._own.absorb(own, number)

    def verdict(self) -> OutputError:
        total = self._doubtful if self.is_doubtful else self._total
        found = total.result()
        if self.is_doubtful:
            return replace(self._tolerance.judged(found), failure=total.reason or self._beside_itself(found))
        if self._settings.is_recorded and found.output not in self._settings.outputs:
            return replace(found, failure=self._worst.failure, worst_sample=self._worst_sample)
        judged = self._tolerance.judged(found)
        return replace(judged, failure=total.reason) if total.reason else judged

    def _beside_itself(self, found: OutputError) -> str:
        """Why it is farther from the original than that is from itself, in words; empty if it is not."""
        own, shown = self._own.result(), "the model is ill-conditioned on every sample, and "
        most = 2 * own.mismatch_count + self._tolerance.max_mismatches
        if found.mismatch_count > most:
            return f"{shown}{found.mismatch_count} values differ; {own.mismatch_count} do of its own"
        if found.sqnr_db < own.sqnr_db - NOISE_DB:
            return f"{shown}SQNR in dB {found.sqnr_db:.4g}; its own is {own.sqnr_db:.4g}"
        gain = self._doubtful.gain
        if not found.is_exact and not 1 / GAIN <= gain <= GAIN:
            return f"{shown}the values are {gain:.3g} times as large"
        if found.top1_agreement is not None and found.top1_agreement < (own.top1_agreement or 0.0) - TOP1:
            return f"{shown}top-1 agreement {found.top1_agreement:.3g}; its own is {own.top1_agreement:.3g}"
        return ""
