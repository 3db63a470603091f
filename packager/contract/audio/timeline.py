"""Where a sound lies in a model's input: along which dimension, in samples or in frames."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations
from typing import Protocol

from packager.core.errors import ConfigError
from packager.core.signature import Dimension, TensorSpec


class Frames(Protocol):
    """A model takes frames, each of as many numbers."""

    @property
    def numbers(self) -> int: ...

    @property
    def is_first(self) -> bool:
        """Whether the numbers of a frame come before the frames where a shape does not tell."""
        ...

    @property
    def shortest(self) -> int:
        """Samples of the shortest recording that has a frame."""
        ...

    def frames_of(self, length: int) -> int:
        """How many frames so many samples are."""
        ...

    def length_of(self, frames: int) -> int:
        """How many samples so many frames need."""
        ...


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where the sound lies."""

    shape: tuple[int, ...]
    """-1 for any number"""
    length: int | None
    """in samples; None for any"""
    is_turned: bool
    """whether the numbers of a frame come before the frames"""


@dataclass(frozen=True, kw_only=True)
class Axes:
    time: int
    within: int | None
    """where the numbers of one frame are"""


def place_of(spec: TensorSpec, frames: Frames | None, length: int | None) -> Place:
    """Raises ConfigError for a shape that has no room for the sound, or for another one."""
    axes = min(_fitting(spec, frames), key=lambda each: _preference(spec, frames, each), default=None)
    if axes is None:
        wanted = "samples along one dimension" if frames is None else f"frames of {frames.numbers} numbers"
        raise ConfigError(
            f"takes {spec.element} {list(spec.shape)}, not {wanted}", hint="all other dimensions have to be 1"
        )
    length = _length(spec.shape[axes.time], frames, length)
    count = -1 if length is None else length if frames is None else frames.frames_of(length)
    sizes = {axes.time: count} | ({axes.within: frames.numbers} if frames and axes.within is not None else {})
    return Place(
        shape=tuple(sizes.get(axis, 1) for axis in range(len(spec.shape))),
        length=length,
        is_turned=axes.within is not None and axes.within < axes.time,
    )


def _fitting(spec: TensorSpec, frames: Frames | None) -> Iterator[Axes]:
    """Ways to lay the sound into the shape: what is left over is 1, or any number."""
    axes = range(len(spec.shape))
    pairs = permutations(axes, 2) if frames else ((axis, None) for axis in axes)
    for time, within in pairs:
        fits = within is None or frames is None or _is(spec.shape[within], frames.numbers)
        if fits and all(_is(spec.shape[axis], 1) for axis in axes if axis not in (time, within)):
            yield Axes(time=time, within=within)


def _is(dimension: Dimension, size: int) -> bool:
    return not isinstance(dimension, int) or dimension == size


def _preference(spec: TensorSpec, frames: Frames | None, axes: Axes) -> tuple[bool, bool, bool, bool, int]:
    """Lower is better."""
    size = spec.shape[axes.time]
    is_batch = not isinstance(size, int) and spec.is_batch(axes.time)
    within = axes.within
    return (
        size == 1,
        within is not None and not isinstance(spec.shape[within], int),
        is_batch,
        frames is not None and within is not None and (within < axes.time) is not frames.is_first,
        -axes.time,
    )


def _length(size: Dimension, frames: Frames | None, length: int | None) -> int | None:
    """In samples. Raises ConfigError when the key and the model's shape say different things."""
    if frames is None:
        if isinstance(size, int) and length not in (None, size):
            raise ConfigError(f"'length' is {length}, the model takes {size} samples", hint="leave out length")
        return size if isinstance(size, int) else length
    if length is not None and length < frames.shortest:
        raise ConfigError(f"'length' {length} is too short", hint=f"a frame needs {frames.shortest} samples")
    if not isinstance(size, int):
        return length
    if length is not None and frames.frames_of(length) != size:
        raise ConfigError(
            f"'length' {length} is {frames.frames_of(length)} frames, the model takes {size}", hint="leave out length"
        )
    needed = max(frames.length_of(size), frames.shortest) if length is None else length
    if frames.frames_of(needed) != size:
        raise ConfigError(
            f"takes {size} frames: a recording that short has none",
            hint=f"the shortest one has {frames.shortest} samples and {frames.frames_of(frames.shortest)} frames",
        )
    return needed
