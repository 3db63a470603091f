"""Runs samples through an ONNX Runtime session and observes the tensors."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from packager.core.errors import ConfigError, ModelError
from packager.engines.session.refusals import is_refusal
from packager.graph.rewriting.stretched import Stretched, values_of
from packager.quantization.calibration.histogram import count
from packager.quantization.calibration.statistics import NOTHING, Collection
from packager.samples.recorded import OUTPUTS, record

if TYPE_CHECKING:
    from numpy import float32, generic
    from numpy.typing import NDArray


@dataclass(frozen=True, kw_only=True)
class Observer:
    """Observer of one graph; several threads may call `observe` at once."""

    stretched: Stretched | None
    """None if nothing is fetched"""
    inputs: tuple[str, ...]
    """graph inputs to observe"""
    fetched: tuple[str, ...]
    has_histograms: bool
    collection: Collection
    """receives the counts of `observe`, in any order of samples; the caller enters minimum and maximum"""
    outputs: Path
    """folder for the values of `given`"""
    given: tuple[str, ...]
    """values to record"""

    def observe(self, number: int, sample: "Mapping[str, NDArray[generic]]") -> "NDArray[float32]":
        """Runs sample `number`, counts its values and returns the minimum and maximum of every tensor.

        Raises ConfigError if ONNX Runtime refuses the sample, ModelError for NaN or infinity.
        """
        import numpy

        seen = {name: self._look(number, name, self._fed(number, name, sample)) for name in self.inputs}
        kept: dict[str, NDArray[Any]] = {}
        for values in self._run(number, sample):
            while values:
                name = next(iter(values))
                value = values.pop(name)  # its memory is reused for the next value
                if name in self.given:
                    kept[name] = value.numpy()
                if name in self.fetched:
                    seen[name] = self._look(number, name, values_of(value).reshape(-1))
        if kept:
            record(self.outputs, number, OUTPUTS, [kept[name] for name in self.given])
        return numpy.array([seen[name] for name in (*self.inputs, *self.fetched)], numpy.float32)

    def _fed(self, number: int, name: str, sample: "Mapping[str, NDArray[generic]]") -> "NDArray[generic]":
        if name not in sample:
            raise ConfigError(f"sample {number} has no input '{name}'", hint="give an array for every input")
        if sample[name].dtype.kind != "f":
            raise ModelError(
                f"input '{name}' is {sample[name].dtype}: it has no floating-point range",
                hint="remove it from the tensors",
            )
        return sample[name].reshape(-1)

    def _run(self, number: int, sample: "Mapping[str, NDArray[generic]]") -> Iterator[dict[str, Any]]:
        """The fetched values, in the memory of ONNX Runtime's arena: copying would cost more than observing them."""
        import numpy
        import onnxruntime

        if not self.stretched:
            return
        run: Iterator[dict[str, Any]] | None = None
        while True:
            try:
                if run is None:
                    feeds = {
                        name: onnxruntime.OrtValue.ortvalue_from_numpy(numpy.ascontiguousarray(array))
                        for name, array in sample.items()
                    }
                    run = self.stretched.run(feeds)
                values = next(run, None)
            except Exception as error:
                if not is_refusal(error):
                    raise
                raise ConfigError(
                    f"ONNX Runtime refuses sample {number}: {error}",
                    hint="fix the sample, or remove it; in .npz and .npy files the first axis counts samples: "
                    "save a single one as x[None]",
                ) from error
            if values is None:
                return
            yield values

    def _look(self, number: int, name: str, values: "NDArray[generic]") -> tuple[float, float]:
        import numpy

        if not values.size:
            return NOTHING
        with numpy.errstate(over="ignore"):  # a double beyond float32 becomes infinite, and is rejected as such
            numbers: NDArray[float32] = values.astype(numpy.float32, copy=False)
        low, high = float(numbers.min()), float(numbers.max())
        if not (math.isfinite(low) and math.isfinite(high)):
            what = "NaN" if math.isnan(low) else "infinity"
            raise ModelError(
                f"sample {number} makes {what} in tensor '{name}'",
                hint="remove the sample if it is not a real one, and the tensor if it contains such values by design",
            )
        if self.has_histograms:
            self.collection.count(name, count(numbers, low, high, at_least=self.collection.exponent(name)))
        return low, high
