"""The samples and what the float model makes of them, kept on disk: memory holds one sample at a time."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from packager.core.errors import MobpackError, ModelError
from packager.quantization.measurement.metrics import Outputs
from packager.quantization.measurement.running import opened, read, run
from packager.samples.recorded import INPUTS, OUTPUTS, is_recorded, record, recorded

if TYPE_CHECKING:
    from numpy.typing import NDArray

WHOLE = "whole.json"
"""Is written last: what an earlier process left half-made is made anew."""


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
        """What the float model makes of sample `number`."""
        return recorded(self.folder, number, OUTPUTS, len(self.outputs))


def reference(
    folder: Path, graph: Path, data_folder: str, samples: Mapping[str, Any], progress: Callable[[int], None]
) -> RecordedReference:
    """What is in `folder`, made now if it is not there; `progress` gets the number of samples done.

    Outputs that calibration has recorded in `folder` are not computed again. It looks at every value, so that fewer
    nodes are fused: they may differ from those of a run without it by roundings.

    Raises ModelError when the float model cannot run a sample, ConfigError when samples cannot be read.
    """
    if (folder / WHOLE).is_file():
        known = json.loads((folder / WHOLE).read_text(encoding="utf-8"))
        return RecordedReference(folder, tuple(known["inputs"]), tuple(known["outputs"]), known["count"])
    session = opened(graph.read_bytes(), data_folder)
    inputs = tuple(value.name for value in session.get_inputs())
    outputs = tuple(value.name for value in session.get_outputs())
    folder.mkdir(exist_ok=True)
    count = 0
    for count, sample in enumerate(read(**samples), 1):
        number = count - 1
        record(folder, number, INPUTS, [sample[name] for name in inputs])
        if not is_recorded(folder, number, OUTPUTS, len(outputs)):
            record(folder, number, OUTPUTS, _results(session, outputs, sample, number))
        progress(count)
    known = {"inputs": inputs, "outputs": outputs, "count": count}
    (folder / WHOLE).write_text(json.dumps(known), encoding="utf-8")
    return RecordedReference(folder, inputs, outputs, count)


def _results(session: Any, names: tuple[str, ...], sample: Mapping[str, Any], number: int) -> Outputs:
    try:
        return run(session, names, sample)
    except MobpackError as error:
        raise ModelError(f"sample {number}: {error.message}", hint="mend the sample, or leave it out") from error
