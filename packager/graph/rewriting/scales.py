"""The scales of a draft: those of an earlier quantization, and those in use."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from packager.core.quantized import ScaleChoice
from packager.graph.weights.keeping import LARGEST_FACTOR, Scaling, has_same_form, kept
from packager.graph.weights.rounding import Parameters

if TYPE_CHECKING:
    from numpy.typing import NDArray

ACTIVATION = "activation"
"""Kind of the values of a graph that are computed, or inputs."""
NEW = "not in the earlier scales"
OTHER_FORM = "another number of scales, or another kind of zero point"


@dataclass
class Scales:
    """Scales by key: a kind (`weight`, `activation` ...), a colon, and the name of the tensor."""

    earlier: Mapping[str, Scaling] = field(default_factory=dict)
    used: dict[str, Parameters] = field(default_factory=dict)

    def settled(self, key: str, own: Parameters) -> Parameters:
        """The parameters to use for a tensor whose range asks for `own`: earlier ones where they fit."""
        self.used[key] = kept(own, self.earlier.get(key))
        return self.used[key]

    def choices(self) -> tuple[ScaleChoice, ...]:
        """How many scales of every tensor are earlier ones, and why the others are not; sorted by key."""
        return tuple(_choice(key, self.used[key], self.earlier.get(key)) for key in sorted(self.used))


def _choice(key: str, used: Parameters, earlier: Scaling | None) -> ScaleChoice:
    kind, _, name = key.partition(":")
    count = int(used.scale.size)
    if earlier is None or not has_same_form(used, earlier):
        return ScaleChoice(kind=kind, name=name, count=count, reason=OTHER_FORM if earlier else NEW)
    is_kept = _equal(used, earlier)
    number = int(is_kept.sum())
    reason = "; ".join(_reasons(used, earlier, ~is_kept))
    return ScaleChoice(kind=kind, name=name, count=count, kept=number, reason=reason)


def _equal(used: Parameters, earlier: Scaling) -> "NDArray[Any]":
    import numpy

    found = used.scale == earlier.scale
    if earlier.zero_point is not None:
        found = found & (used.zero_point == earlier.zero_point)
    return numpy.asarray(found)


def _reasons(used: Parameters, earlier: Scaling, is_own: "NDArray[Any]") -> Iterator[str]:
    is_wide = used.scale * LARGEST_FACTOR < earlier.scale
    wide, outgrown = int((is_own & is_wide).sum()), int((is_own & ~is_wide).sum())
    if outgrown:
        yield f"{outgrown:,} {_ranges(outgrown)} outgrown"
    if wide:
        yield f"{wide:,} {_ranges(wide)} less than 1 / {LARGEST_FACTOR:g} of the earlier"


def _ranges(count: int) -> str:
    return "range" if count == 1 else "ranges"
