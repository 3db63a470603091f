"""Values that quantizers find and choose."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Range:
    """The range of a value of a graph, as calibration found it."""

    low: float
    high: float


@dataclass(frozen=True, kw_only=True)
class FloatLayer:
    """A layer that a quantizer left in float."""

    name: str
    """name of its node"""
    operator: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class ScaleChoice:
    """How many scales of a tensor a quantizer has kept from the version before."""

    kind: str
    """`weight`, `activation` ..."""
    name: str
    count: int
    """number of its scales"""
    kept: int = 0
    reason: str = ""
    """why the others are its own; empty if there are none"""


@dataclass(frozen=True, kw_only=True)
class KeptScales:
    """The scales that a quantizer has kept from the version before."""

    sha256: str
    """of the file with the earlier scales"""
    choices: tuple[ScaleChoice, ...]

    @property
    def count(self) -> int:
        return sum(each.count for each in self.choices)

    @property
    def kept(self) -> int:
        return sum(each.kept for each in self.choices)

    @property
    def own(self) -> tuple[ScaleChoice, ...]:
        """Tensors with scales of their own."""
        return tuple(each for each in self.choices if each.reason)
