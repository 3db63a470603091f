"""Axes of a sound in a model's input, and its length in samples or frames."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations
from typing import Protocol

from packager.core.errors import ConfigError
from packager.core.signature import Dimension, TensorSpec


class Frames(Protocol):
    """Frames of a fixed number of numbers."""

    @property
    def numbers(self) -> int: ...

    @property
    def is_first(self) -> bool:
        """Whether the numbers of a frame come before the frames if the shape does not tell."""
        ...

    @property
    def shortest(self) -> int:
        """Samples of the shortest recording that has a frame."""
        ...

    def frames_of(self, length: int) -> int:
        """Number of frames of that many samples."""
        ...

    def length_of(self, frames: int) -> int:
        """Number of samples for that many frames."""
        ...


@dataclass(frozen=True, kw_only=True)
class SoundPlace:
    """Position of the sound in the input's shape."""

    shape: tuple[int, ...]
    """-1 for any size"""
    length: int | None
    """in samples; None for any length"""
    is_turned: bool
    """whether the numbers of a frame come before the frames"""


@dataclass(frozen=True, kw_only=True)
class Axes:
    time: int
    within: int | None
    """numbers of one frame"""


def place_of(spec: TensorSpec, frames: Frames | None, length: int | None) -> SoundPlace:
    """Finds the axes of the sound. Raises ConfigError for a shape that has no room for it, or for several."""
    axes = min(_fitting(spec, frames), key=lambda each: _preference(spec, frames, each), default=None)
    if axes is None:
        wanted = "samples along one dimension" if frames is None else f"frames of {frames.numbers} numbers"
        raise ConfigError(f"is {spec.element} {list(spec.shape)}, not {wanted}", hint="every other dimension must be 1")
    length = _length(spec.shape[axes.time], frames, length)
    count = -1 if length is None else length if frames is None else frames.frames_of(length)
    sizes = {axes.time: count} | ({axes.within: frames.numbers} if frames and axes.within is not None else {})
    return SoundPlace(
        shape=tuple(sizes.get(axis, 1) for axis in range(len(spec.shape))),
        length=length,
        is_turned=axes.within is not None and axes.within < axes.time,
    )


def _fitting(spec: TensorSpec, frames: Frames | None) -> Iterator[Axes]:
    """Possible axes of the sound: all other dimensions are 1, or open."""
    axes = range(len(spec.shape))
    pairs = permutations(axes, 2) if frames else ((axis, None) for axis in axes)
    for time, within in pairs:
        fits = within is None or frames is None or _is(spec.shape[within], frames.numbers)
        if fits and all(_is(spec.shape[axis], 1) for axis in axes if axis not in (time, within)):
            yield Axes(time=time, within=within)


def _is(dimension: Dimension, size: int) -> bool:
    return not isinstance(dimension, int) or dimension == size


def _preference(spec: TensorSpec, frames: Frames | None, axes: Axes) -> tuple[bool, bool, bool, bool, int]:
    """Sort key: lower is better."""
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
    """Length in samples. Raises ConfigError if the key contradicts the model's shape."""
    if frames is None:
        if isinstance(size, int) and length not in (None, size):
            raise ConfigError(f"'length' is {length}, but the model takes {size} samples", hint="remove 'length'")
        return size if isinstance(size, int) else length
    if length is not None and length < frames.shortest:
        raise ConfigError(
            f"'length' {length} is too short", hint=f"use at least {frames.shortest} samples, the length of a frame"
        )
    if not isinstance(size, int):
        return length
    if length is not None and frames.frames_of(length) != size:
        raise ConfigError(
            f"'length' {length} is {frames.frames_of(length)} frames, but the model takes {size}",
            hint="remove 'length'",
        )
    needed = max(frames.length_of(size), frames.shortest) if length is None else length
    if frames.frames_of(needed) != size:
        raise ConfigError(
            f"takes {size} frames, less than any recording has",
            hint=f"the shortest one has {frames.shortest} samples and {frames.frames_of(frames.shortest)} frames",
        )
    return needed
