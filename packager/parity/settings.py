"""The `[parity]` table."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class ParitySettings:
    runners: tuple[str, ...]
    require: tuple[str, ...]
    samples: Path | None
    random_samples: int
    seed: int
    tolerance: float
