"""Settings of a comparison besides the files: the `[parity]` table, for one file."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from packager.samples import SampleSource
from packager.verification.parity.tolerance import Tolerance

ANY = Tolerance()


@dataclass(frozen=True, kw_only=True)
class ParitySettings:
    samples: Path | None = None
    """the user's .npz files, or random ones"""
    random_samples: int = 3
    seed: int = 0
    tolerance: float = 1e-3
    """rtol: the largest allowed error is atol + rtol * scale"""
    atol: float | None = None
    """None for the default that belongs to the rtol"""
    distance: Tolerance = ANY
    """allowed distance between a variant and the user's model"""
    typical: SampleSource | None = None
    """samples for that if `samples` are not given: random numbers are outside of the calibrated ranges"""
    outputs: Mapping[str, Tolerance] = field(default_factory=dict)
    """outputs with a tolerance of their own"""

    is_recorded: bool = False
    """whether the original is judged, by recorded outputs of a runner: like numpy.allclose"""

    def tolerance_of(self, output: str) -> Tolerance:
        return self.outputs.get(output, self.general)

    @property
    def distance_source(self) -> SampleSource | None:
        """The source of the samples for `distance`; None if they are those of the comparison."""
        return None if self.samples else self.typical

    @property
    def general(self) -> Tolerance:
        """The tolerance of outputs without one of their own."""
        return Tolerance(max_rel_error=self.tolerance, atol=self.atol)
