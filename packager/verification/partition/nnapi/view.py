"""A unit of a graph with its values, on a device with NNAPI."""

from dataclasses import dataclass

from packager.verification.partition.unit import UnitPort, number
from packager.verification.partition.unit_view import UnitView

LEVEL_1, LEVEL_2, LEVEL_3, LEVEL_4 = 27, 28, 29, 30
"""Feature levels of NNAPI; they are API levels up to Android 11."""
DOES_NOT_LOAD = "; with NNAPI the model does not load"
"""Ending of reasons to leave a node at which ONNX Runtime 1.29 fails instead of leaving it."""


@dataclass(frozen=True, kw_only=True)
class View(UnitView):
    feature_level: int
    """27 for Android 8.1, 28 for 9, 29 for 10, 30 for 11, 31 for 12 and later"""
    use_nchw: bool = False

    def scale(self, port: UnitPort) -> float | None:
        """The scale of a quantized input or output; None if it is not constant."""
        return number(self.graph.value(port.quantization.scale)) if port.quantization else None

    def zero_point(self, port: UnitPort) -> int | None:
        """The zero point of a quantized input or output, which the provider reads as unsigned; None if it is not
        constant."""
        if not port.quantization:
            return None
        if not port.quantization.zero_point:
            return 0
        found = number(self.graph.value(port.quantization.zero_point))
        return None if found is None else int(found) % 256
