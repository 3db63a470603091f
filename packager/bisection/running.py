"""Runs pieces of a model on one sample and leaves what they give in files."""

import shutil
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from packager.bisection.subject import Subject
from packager.errors import ModelError
from packager.runners import Runnable

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from onnx import ModelProto

FIRST_DATE = (1980, 1, 1, 0, 0, 0)
MAPPED_BYTES = 1 << 20
"""Mapping a file takes longer than to read one of this size."""


class RefusedError(Exception):
    """The runtime does not open a piece, or does not run it on the sample."""


def run_piece(subject: Subject, piece: "ModelProto", sample: Path, folder: Path) -> dict[str, Path]:
    """Output -> .npy file of what `piece` gives on `sample`; files go to `folder`, which is made.

    Raises RefusedError when the runtime does not open it, crashes or refuses the sample.
    """
    folder.mkdir(parents=True)
    path = folder / "piece.onnx"
    path.write_bytes(piece.SerializeToString(deterministic=True))
    outputs = run_file(subject, subject.runnable(path), sample, folder / "run")
    return {value.name: outputs / f"{index}.npy" for index, value in enumerate(piece.graph.output)}


def run_file(subject: Subject, model: Runnable, sample: Path, folder: Path) -> Path:
    """The folder with the outputs of `model`, as `run_piece`."""
    outputs = folder / "outputs"
    outputs.mkdir(parents=True)
    try:
        with subject.side.runner.open(model, folder) as session:
            outcome = session.run(sample, outputs)
    except ModelError as error:
        raise RefusedError(error.message) from error
    if outcome.outputs is None:
        raise RefusedError(outcome.error)
    return outputs


def fresh(folder: Path) -> Path:
    """`folder`, not there any more."""
    shutil.rmtree(folder, ignore_errors=True)
    return folder


def mapped(path: Path) -> "NDArray[Any]":
    """The array in an .npy file, of which memory holds what is looked at where it is large."""
    import numpy

    is_large = path.stat().st_size > MAPPED_BYTES
    array: NDArray[Any] = numpy.load(path, mmap_mode="r" if is_large else None)
    return array


def write_sample(path: Path, arrays: "Iterable[tuple[str, NDArray[Any]]]") -> None:
    """An .npz file, array by array, with the same bytes for the same arrays. Names may be any."""
    import numpy

    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name, array in arrays:
            entry = zipfile.ZipInfo(f"{name}.npy", FIRST_DATE)
            with archive.open(entry, "w", force_zip64=True) as member:
                numpy.lib.format.write_array(member, array, allow_pickle=False)


def arrays_in(sample: Path) -> "Mapping[str, NDArray[Any]]":
    """Name -> array of an .npz file."""
    import numpy

    with numpy.load(sample) as arrays:
        return {name: arrays[name] for name in arrays.files}


def shapes_in(sample: Path) -> Mapping[str, tuple[int, ...]]:
    """Name -> shape of the arrays of an .npz file."""
    return {name: array.shape for name, array in arrays_in(sample).items()}
