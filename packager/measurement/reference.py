"""The samples and what the float model makes of them, kept on disk: memory holds one sample at a time."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from packager.errors import MobpackError, ModelError
from packager.measurement.metrics import Outputs
from packager.measurement.running import opened, read, run

if TYPE_CHECKING:
    from numpy.typing import NDArray

WHOLE = "whole.json"
"""Is written last: what an earlier process left half-made is made anew."""
SMALL_BYTES = 1 << 16
"""Smaller arrays are read instead of mapped, which costs less; nothing at all cannot be mapped."""


@dataclass(frozen=True)
class Reference:
    folder: Path
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    count: int

    def numbers(self) -> range:
        return range(self.count)

    def sample(self, number: int) -> "dict[str, NDArray[Any]]":
        return {name: _load(self.folder / f"{number}-in-{index}.npy") for index, name in enumerate(self.inputs)}

    def original(self, number: int) -> Outputs:
        """What the float model makes of sample `number`."""
        return [_load(self.folder / f"{number}-out-{index}.npy") for index in range(len(self.outputs))]


def reference(
    folder: Path, graph: Path, data_folder: str, samples: Mapping[str, Any], progress: Callable[[int], None]
) -> Reference:
    """What is in `folder`, made now if it is not there; `progress` gets the number of samples done.

    Raises ModelError when the float model cannot run a sample, ConfigError when samples cannot be read.
    """
    if (folder / WHOLE).is_file():
        known = json.loads((folder / WHOLE).read_text(encoding="utf-8"))
        return Reference(folder, tuple(known["inputs"]), tuple(known["outputs"]), known["count"])
    session = opened(graph.read_bytes(), data_folder)
    inputs = tuple(value.name for value in session.get_inputs())
    outputs = tuple(value.name for value in session.get_outputs())
    folder.mkdir(exist_ok=True)
    count = 0
    for count, sample in enumerate(read(**samples), 1):
        results = _results(session, outputs, sample, count - 1)
        _save(folder, f"{count - 1}-in", [sample[name] for name in inputs])
        _save(folder, f"{count - 1}-out", results)
        progress(count)
    known = {"inputs": inputs, "outputs": outputs, "count": count}
    (folder / WHOLE).write_text(json.dumps(known), encoding="utf-8")
    return Reference(folder, inputs, outputs, count)


def _results(session: Any, names: tuple[str, ...], sample: Mapping[str, Any], number: int) -> Outputs:
    try:
        return run(session, names, sample)
    except MobpackError as error:
        raise ModelError(f"sample {number}: {error.message}", hint="mend the sample, or leave it out") from error


def _save(folder: Path, prefix: str, arrays: Outputs) -> None:
    import numpy

    for index, array in enumerate(arrays):
        plain = numpy.asarray(array)
        numpy.save(folder / f"{prefix}-{index}.npy", plain.astype(str) if plain.dtype.kind == "O" else plain)


def _load(path: Path) -> "NDArray[Any]":
    import numpy

    array: NDArray[Any] = numpy.load(path, mmap_mode="r" if path.stat().st_size > SMALL_BYTES else None)
    return array
