"""Measures how far a side, or a submodel of it, moves when its inputs change in the last bits."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from packager.core.errors import ModelError
from packager.core.findings import OutputError
from packager.verification.bisection.figures import Limits
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
    limits: Limits,
) -> OutputError | None:
    """Movement of the value of `expected` that moves farthest relative to `limits`; None if none moves, or only as far
    as the perturbed inputs, and if `piece` cannot be perturbed. Files go below `folder`."""
    path = folder / "unmoved.onnx"
    path.write_bytes(piece.SerializeToString(deterministic=True))
    model = perturbed(piece, subject.runnable(path), subject.side.runner, folder / "shaken")
    if model is None:
        return None
    names = [value.name for value in piece.graph.output]
    found: list[OutputError] = []
    try:
        (movement,) = model.movements([sample], folder / "moved")
        for outcome in movement.outcomes:
            errors = [
                limits.compared(name, expected[name], array_of(outcome, index)) for index, name in enumerate(names)
            ]
            found += [each for each in errors if each.max_rel_error > model.least]
    except ModelError:
        return None  # it does not open, or crashes: then nothing is known about it
    return max(found, key=limits.share, default=None)
