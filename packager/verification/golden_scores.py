"""Golden vectors of a table whose rows a phone may give in another order: its sorted scores stay where they are.

Every other number may be that of another row. It is infinite in the vector, and as many numbers may be infinite in one
of the two alone: not NaN, which a phone that fails gives, too.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from packager.core.values import Variant
from packager.files.atomic import link_or_copy
from packager.verification import parity
from packager.verification.parity import ParitySettings

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, kw_only=True)
class Scores:
    """The numbers of an output that are compared."""

    mask: "NDArray[Any]"
    """where they are"""
    scale: float
    """their largest magnitude"""
    moves_by: float
    """how far they are from those for almost the same inputs, relative to the scale"""

    @property
    def hidden_count(self) -> int:
        return int((~self.mask).sum())

    def only_scores(self, array: "NDArray[Any]") -> "NDArray[Any]":
        import numpy

        return numpy.where(self.mask, array, numpy.asarray(numpy.inf, array.dtype))


def sorted_scores(
    original: Variant, settings: ParitySettings, references: parity.OriginalOutputs, outputs: Iterable[int]
) -> Mapping[int, Scores]:
    """The sorted scores in `outputs`, for those that have any on every sample."""
    import numpy

    reference = references.of(original, settings)
    rows = parity.rows_of(original, settings, reference.scales)
    found = {}
    for index in sorted(outputs):
        arrays = [parity.array_of(outcome, index) for outcome in reference.outcomes]
        mask = rows.scores_in(index, arrays)
        if mask is None or not all(numpy.isfinite(each[mask]).all() for each in arrays):
            continue
        scale = max(float(numpy.abs(each[mask]).max()) for each in arrays)
        moved = [
            float(numpy.abs(parity.array_of(other, index)[mask].astype(float) - array[mask]).max())
            for number, array in enumerate(arrays)
            for other in references.perturbed(original, settings, number).outcomes
        ]
        found[index] = Scores(mask=mask, scale=scale, moves_by=max(moved, default=0.0) / scale)
    return found


def with_only_scores(outputs: Path, scores: Mapping[int, Scores], folder: Path) -> Path:
    """The outputs of a sample with nothing but `scores` where there are any, in `folder`, which is created; `outputs`
    itself without scores."""
    import numpy

    if not scores:
        return outputs
    folder.mkdir()
    for path in outputs.glob("*.npy"):
        index = int(path.stem)
        if index in scores:
            numpy.save(folder / path.name, scores[index].only_scores(numpy.load(path)))
        else:
            link_or_copy(path, folder / path.name)
    return folder
