"""Cuts a sound into the pieces that the runs of a stream get: packages do the same.

The pieces depend on the sound and its rate alone, never on how it was pushed. The graph resamples each of them as it
resamples the whole sound: see `resampling`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import gcd
from typing import TYPE_CHECKING, Any

from packager.contract.audio.resampling import ROLLOFF_PERCENT, WIDTH
from packager.core.contract import Streamed

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, kw_only=True)
class Piece:
    """A run's part of a sound. `start` and `end` count frames of the sound."""

    samples: "NDArray[Any]"
    """[frames, channels], zeros outside of the sound"""
    place: tuple[int, int, int]
    """that of AudioInput"""
    start: int
    """first frame of the hop"""
    end: int
    """frame after its last one"""


def pieces(sound: "NDArray[Any]", rate: int, streamed: Streamed) -> Iterator[Piece]:
    """The pieces of a whole `sound`, [frames, channels] at `rate`, in order."""
    import numpy

    common = gcd(rate, streamed.rate)
    source, target = rate // common, streamed.rate // common
    reach = 0 if source == target else -(-100 * WIDTH * source // (ROLLOFF_PERCENT * min(source, target)))
    width = -(-(streamed.length - 1) * source // target) + 2 * reach + 1
    ahead = streamed.length - streamed.hop
    start, rest = 0, 0  # the hop begins at the frame `start + rest / target`
    while start < len(sound):
        before, late = divmod(rest - (streamed.length - streamed.hop) * source, target)
        first = start + before - reach
        inside = sound[max(first, 0) : max(first + width, 0)]
        zeros = min(max(-first, 0), width)
        samples = numpy.pad(inside, ((zeros, width - zeros - len(inside)), (0, 0)))
        left = -(-((len(sound) - start) * target - rest) // source)  # samples of the model from the hop on
        place = (late + reach * target, ahead, max(streamed.hop - left, 0))
        hop, rest = divmod(rest + streamed.hop * source, target)
        yield Piece(samples=samples, place=place, start=start, end=min(start + hop, len(sound)))
        start, ahead = start + hop, max(ahead - streamed.hop, 0)
