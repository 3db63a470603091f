"""Values that publishing has in common with the repository that it publishes to."""

from dataclasses import dataclass
from datetime import datetime

from packager.core.errors import GateError


@dataclass(frozen=True, kw_only=True)
class Signing:
    """When something is signed, and for how long."""

    now: datetime
    days: int
    timestamp_days: int = 30
    """for which the one file is valid that a machine renews every day"""
    after: int = 0
    """the document gets a larger number than this"""
    is_clock_trusted: bool = False
    """whether `now` counts although it does not fit the document before"""


@dataclass(frozen=True, kw_only=True)
class Hosted:
    """A file that devices download."""

    sha256: str
    size_bytes: int
    content: bytes | None = None
    """of a file that is made of the document; None for a file of a release"""


class LacksSignaturesError(GateError):
    """Metadata that other people have to sign before it counts."""

    def __init__(self, content: bytes, *, role: str, number: int, missing: int) -> None:
        self.content, self.role, self.number, self.missing = content, role, number, missing
        super().__init__(
            f"{role} {number} needs {missing} more signature{'s' if missing > 1 else ''}",
            hint="hand its file on: mobpack channel sign FILE --key KEY --to URL",
        )
