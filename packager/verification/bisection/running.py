"""Runs submodels on one sample and writes their outputs to files."""

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from packager.core.errors import ModelError
from packager.engines.runners import Runnable
from packager.verification.bisection.subject import BisectionSubject

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from onnx import ModelProto


class RefusedError(Exception):
    """The runtime does not open a submodel, or does not run it on the sample."""


def run_piece(subject: BisectionSubject, piece: "ModelProto", sample: Path, folder: Path) -> dict[str, Path]:
    """Output -> .npy file of the output of `piece` on `sample`; files go to `folder`, which is created.

    Raises RefusedError if the runtime does not open it, crashes or refuses the sample.
    """
    folder.mkdir(parents=True)
    path = folder / "piece.onnx"
    path.write_bytes(piece.SerializeToString(deterministic=True))
    outputs = run_file(subject, subject.runnable(path), sample, folder / "run")
    return {value.name: outputs / f"{index}.npy" for index, value in enumerate(piece.graph.output)}


def run_file(subject: BisectionSubject, model: Runnable, sample: Path, folder: Path) -> Path:
    """The folder with the outputs of `model`, like `run_piece`."""
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
    """`folder`, after removing it."""
    shutil.rmtree(folder, ignore_errors=True)
    return folder


def arrays_in(sample: Path) -> "Mapping[str, NDArray[Any]]":
    """Name -> array of an .npz file."""
    import numpy

    with numpy.load(sample) as arrays:
        return {name: arrays[name] for name in arrays.files}


def shapes_in(sample: Path) -> Mapping[str, tuple[int, ...]]:
    """Name -> shape of the arrays of an .npz file."""
    return {name: array.shape for name, array in arrays_in(sample).items()}
