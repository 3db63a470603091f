"""What a comparison needs to know beside the files: the `[parity]` table, for one file."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from packager.samples import Source
from packager.verification.parity.tolerance import Tolerance

ANY = Tolerance()


@dataclass(frozen=True, kw_only=True)
class ParitySettings:
    samples: Path | None = None
    """.npz files of the user's, or random ones"""
    random_samples: int = 3
    seed: int = 0
    tolerance: float = 1e-3
    """rtol: the largest allowed error is atol + rtol * scale"""
    atol: float | None = None
    """None for what goes with the rtol"""
    distance: Tolerance = ANY
    """how far a variant may be from the user's model"""
    typical: Source | None = None
    """what that is measured on where `samples` are not given: random numbers lie where nothing was calibrated"""
    outputs: Mapping[str, Tolerance] = field(default_factory=dict)
    """outputs that are judged otherwise"""

    is_recorded: bool = False
    """whether it is the original that is judged, by what a runner has recorded: as numpy.allclose does"""

    def tolerance_of(self, output: str) -> Tolerance:
        return self.outputs.get(output, self.general)

    @property
    def distance_source(self) -> Source | None:
        """Where the samples for `distance` come from; None where they are those of the comparison."""
        return None if self.samples else self.typical

    @property
    def general(self) -> Tolerance:
        """What outputs are judged by that have nothing of their own."""
        return Tolerance(max_rel_error=self.tolerance, atol=self.atol)
