"""Measures how far a side, or a submodel of it, moves when its inputs change in the last bits."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from packager.core.errors import ModelError
from packager.core.findings import OutputError
from packager.verification.bisection.figures import ErrorLimits
from packager.verification.bisection.running import RefusedError
from packager.verification.bisection.subject import BisectionSubject
from packager.verification.parity.conditioning import perturbed
from packager.verification.parity.outcomes import array_of

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from onnx import ModelProto


def moved(
    subject: BisectionSubject,
    piece: "ModelProto",
    sample: Path,
    folder: Path,
    expected: "Mapping[str, NDArray[Any]]",
    limits: ErrorLimits,
) -> dict[str, OutputError]:
    """Value of `expected` -> its farthest movement relative to `limits`; without those that move only as far as the
    perturbed inputs, and empty if `piece` cannot be perturbed. Files go below `folder`.

    Raises RefusedError if the perturbed piece does not open, or crashes.
    """
    path = folder / "unmoved.onnx"
    path.write_bytes(piece.SerializeToString(deterministic=True))
    model = perturbed(piece, subject.runnable(path), subject.side.runner, folder / "shaken")
    if model is None:
        return {}
    found: dict[str, OutputError] = {}
    try:
        (movement,) = model.movements([sample], folder / "moved")
        for outcome in movement.outcomes:
            for index, value in enumerate(piece.graph.output):
                error = limits.compared(value.name, expected[value.name], array_of(outcome, index))
                if error.max_rel_error > model.least:
                    known = found.get(value.name, error)
                    found[value.name] = max(known, error, key=limits.share)
    except ModelError as error:
        raise RefusedError(error.message) from error
    return found
