"""Stores the samples and the float model's outputs on disk: memory holds one sample at a time."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from packager.core import parsing
from packager.core.errors import MobpackError, ModelError
from packager.quantization.measurement.metrics import Outputs
from packager.quantization.measurement.running import opened, read, run
from packager.samples import Samples
from packager.samples.recorded import INPUTS, OUTPUTS, is_recorded, record, recorded

if TYPE_CHECKING:
    from numpy.typing import NDArray

WHOLE = "whole.json"
"""Marker that is written last: without it, what an earlier process left is made again."""


@dataclass(frozen=True)
class RecordedReference:
    folder: Path
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    count: int

    def numbers(self) -> range:
        return range(self.count)

    def sample(self, number: int) -> "dict[str, NDArray[Any]]":
        arrays = recorded(self.folder, number, INPUTS, len(self.inputs))
        return dict(zip(self.inputs, arrays, strict=True))

    def original(self, number: int) -> Outputs:
        """The float model's outputs for sample `number`."""
        return recorded(self.folder, number, OUTPUTS, len(self.outputs))


def reference(
    folder: Path, graph: Path, data_folder: str, samples: Samples, progress: Callable[[int], None]
) -> RecordedReference:
    """The recorded reference in `folder`, made now if it does not exist; `progress` gets the number of samples done.

    Outputs that calibration has recorded in `folder` are not computed again. Calibration observes every value, so fewer
    nodes are fused: its outputs may differ from those of a plain run by rounding.

    Raises ModelError if the float model cannot run a sample, ConfigError if samples cannot be read.
    """
    if (folder / WHOLE).is_file():
        known = parsing.json_of((folder / WHOLE).read_text(encoding="utf-8"))
        return RecordedReference(folder, tuple(known["inputs"]), tuple(known["outputs"]), known["count"])
    session = opened(graph.read_bytes(), data_folder)
    inputs = tuple(value.name for value in session.get_inputs())
    outputs = tuple(value.name for value in session.get_outputs())
    folder.mkdir(exist_ok=True)
    count = 0
    for count, sample in enumerate(read(samples), 1):
        number = count - 1
        record(folder, number, INPUTS, [sample[name] for name in inputs])
        if not is_recorded(folder, number, OUTPUTS, len(outputs)):
            record(folder, number, OUTPUTS, _results(session, outputs, sample, number))
        progress(count)
    known = {"inputs": inputs, "outputs": outputs, "count": count}
    (folder / WHOLE).write_text(json.dumps(known), encoding="utf-8", newline="\n")
    return RecordedReference(folder, inputs, outputs, count)


def _results(session: Any, names: tuple[str, ...], sample: Mapping[str, Any], number: int) -> Outputs:
    try:
        return run(session, names, sample)
    except MobpackError as error:
        raise ModelError(f"sample {number}: {error.message}", hint="fix the sample, or remove it") from error
