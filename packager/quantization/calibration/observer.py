"""Runs samples through an ONNX Runtime session and looks at the tensors they make."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from packager.core.errors import ConfigError, ModelError
from packager.quantization.calibration.histogram import count
from packager.quantization.calibration.statistics import NOTHING, Collection
from packager.rewriting.stretched import Stretched, values_of
from packager.samples.recorded import OUTPUTS, record
from packager.session.refusals import is_refusal

if TYPE_CHECKING:
    from numpy import float32, generic
    from numpy.typing import NDArray


@dataclass(frozen=True, kw_only=True)
class Observer:
    """One graph; several threads may `observe` at once."""

    stretched: Stretched | None
    """None where nothing is fetched"""
    inputs: tuple[str, ...]
    """graph inputs to look at"""
    fetched: tuple[str, ...]
    has_histograms: bool
    collection: Collection
    """where `observe` counts, in whatever order samples come; their least and greatest values are for the caller"""
    outputs: Path
    """folder for the values of `given`"""
    given: tuple[str, ...]
    """values to record"""

    def observe(self, number: int, sample: "Mapping[str, NDArray[generic]]") -> "NDArray[float32]":
        """Runs sample `number`, counts its values and returns the least and the greatest of every tensor.

        Raises ConfigError when ONNX Runtime refuses the sample, ModelError for NaN or infinity.
        """
        import numpy

        seen = {name: self._look(number, name, self._fed(number, name, sample)) for name in self.inputs}
        kept: dict[str, NDArray[Any]] = {}
        for values in self._run(number, sample):
            while values:
                name = next(iter(values))
                value = values.pop(name)  # its memory serves what comes next
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
                f"input '{name}' is {sample[name].dtype}: it has no range in floating point",
                hint="leave it out of the tensors",
            )
        return sample[name].reshape(-1)

    def _run(self, number: int, sample: "Mapping[str, NDArray[generic]]") -> Iterator[dict[str, Any]]:
        """The fetched values, left where ONNX Runtime's arena has them: fresh memory costs more than looking at it."""
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
                    hint="mend the sample, or leave it out; in .npz and .npy files the first axis counts samples: "
                    "save one alone as x[None]",
                ) from error
            if values is None:
                return
            yield values

    def _look(self, number: int, name: str, values: "NDArray[generic]") -> tuple[float, float]:
        import numpy

        if not values.size:
            return NOTHING
        with numpy.errstate(over="ignore"):  # a double beyond float32 becomes infinite, and is refused as such
            numbers: NDArray[float32] = values.astype(numpy.float32, copy=False)
        low, high = float(numbers.min()), float(numbers.max())
        if not (math.isfinite(low) and math.isfinite(high)):
            what = "NaN" if math.isnan(low) else "infinity"
            raise ModelError(
                f"sample {number} makes {what} in tensor '{name}'",
                hint="leave the sample out if it is not a real one, and the tensor if it holds that by design",
            )
        if self.has_histograms:
            self.collection.count(name, count(numbers, low, high, at_least=self.collection.exponent(name)))
        return low, high
