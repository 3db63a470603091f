"""Outputs of original models, for comparisons on several devices at once."""

import threading
from pathlib import Path

from packager.core.values import Variant
from packager.samples import SampleSet, SampleSource
from packager.verification.parity import OriginalOutputs, ParitySettings, Reference
from packager.verification.parity.conditioning import Movement
from packager.verification.parity.reference import Beside


class SharedReferences(OriginalOutputs):
    """References that several threads use: the first that asks computes, the others wait for it, so that this machine's
    processors have one model at a time."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._lock = threading.RLock()

    def of(self, original: Variant, settings: ParitySettings) -> Reference:
        with self._lock:
            return super().of(original, settings)

    def for_distance(self, variant: Variant, settings: ParitySettings) -> Reference:
        with self._lock:
            return super().for_distance(variant, settings)

    def typical_samples(self, source: SampleSource) -> SampleSet:
        with self._lock:
            return super().typical_samples(source)

    def perturbed(self, original: Variant, settings: ParitySettings, number: int) -> Movement:
        with self._lock:
            return super().perturbed(original, settings, number)

    def beside_model(self, variant: Variant, reference: Reference) -> Beside | None:
        with self._lock:
            return super().beside_model(variant, reference)
