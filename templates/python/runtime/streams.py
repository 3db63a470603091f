"""A sound that comes piece by piece, and the results for its hops."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import gcd
from typing import Any, Generic, Literal, TypeVar

import numpy
from numpy.typing import NDArray

from .errors import ModelError, ModelErrorCode
from .sounds import Sound, SoundPiece, sound_tensors

Result = TypeVar("Result")
Overflow = Literal["refuse", "drop-oldest"]
"""treatment of a push to a stream that has no room"""


@dataclass(frozen=True)
class Heard(Generic[Result]):
    """The result for a part of a stream. Numbers are frames since the stream began, at the rate of the sound."""

    result: Result
    start: int
    """first frame"""
    end: int
    """frame after the last one"""
    dropped: int
    """number of frames before `start` without a result, because the queue was full. A new sound begins after them"""


@dataclass(frozen=True)
class StreamForm:
    """Samples of a run at the model's rate."""

    rate: int
    hop: int
    length: int
    """samples of the hop, and those before it"""


class SoundStream(Generic[Result]):
    """A sound that an app pushes piece by piece, from any thread. The results depend on the sound alone, however it is
    cut.

    The model runs when a result is asked for: what has no result yet waits in a queue.
    """

    _pace: _Pace | None
    _pieces: list[NDArray[Any]]
    _kept: int
    """frame that the pieces begin with"""
    _start: int
    _end: int
    _rest: int
    _ahead: int
    _dropped: int
    _is_flushed: bool
    _step: Callable[[SoundPiece], Result]

    def __init__(
        self, form: StreamForm, queue_ms: int, overflow: Overflow, begin: Callable[[], Callable[[Sound], Result]]
    ) -> None:
        if queue_ms < 1:
            raise ModelError(ModelErrorCode.BAD_OPTIONS, f"queue_ms is {queue_ms}, the least is 1")
        self._form, self._queue_ms, self._overflow, self._begin = form, queue_ms, overflow, begin
        self._news, self._turn = threading.Condition(), threading.Lock()
        self._is_closed = False
        self._renew()

    def push(self, sound: Sound) -> None:
        """Adds what follows.

        Raises ModelError: `BAD_INPUT` for samples that are no numbers, another rate or number of channels than before,
        and after `flush`; `BUSY` where the queue has no room; `CLOSED` after `close`.
        """
        with self._news:
            if self._is_closed:
                raise ModelError(ModelErrorCode.CLOSED, "the stream is closed")
            if self._is_flushed:
                raise _refused("the stream was flushed: `reset` starts a new sound")
            added = sound_tensors("of the stream", sound).samples
            if not numpy.isfinite(added).all():
                raise _refused("the sound has samples that are no finite numbers")
            pace = self._pace_of(sound.rate, added.shape[1])
            excess = self._end + len(added) - self._start - pace.limit
            if excess > 0 and self._overflow == "refuse":
                words = f"no room for {len(added)} frames: the queue of {self._queue_ms} ms is full"
                raise ModelError(ModelErrorCode.BUSY, words)
            self._pace = pace
            self._pieces.append(numpy.array(added))
            self._end += len(added)
            if excess > 0:
                self._dropped += excess
                self._start_at(self._start + excess)
                self._forget(self._start)
            self._news.notify_all()

    def flush(self) -> None:
        """Ends the sound: the rest gets its results."""
        with self._news:
            self._is_flushed = True
            self._news.notify_all()

    def reset(self) -> None:
        """Starts a new sound: forgets what was pushed."""
        with self._news:
            self._renew()
            self._news.notify_all()

    def close(self) -> None:
        """Ends the results. The model stays open."""
        with self._news:
            self._renew()
            self._is_closed = True
            self._news.notify_all()

    @property
    def results(self) -> Iterator[Heard[Result]]:
        """The results that nobody has read, in order. They wait for pushes of other threads, and end after `flush` and
        after `close`. Raises what a run of the model raises."""
        while True:
            with self._turn:
                heard = self._next()
            if heard is None:
                return
            yield heard

    def _next(self) -> Heard[Result] | None:
        while True:
            with self._news:
                while (taken := self._take()) is None:
                    if self._is_closed or self._is_flushed:
                        return None
                    self._news.wait()
                step = self._step
            result = step(taken.piece)
            with self._news:
                if step is self._step:  # unless another sound began meanwhile
                    return self._go_on(result, taken)

    def _take(self) -> _Taken | None:
        """The next run, if its sound has come."""
        pace = self._pace
        if self._is_closed or pace is None:
            return None
        first, late = self._window(pace)
        if first + pace.width > self._end and not (self._is_flushed and self._start < self._end):
            return None
        self._forget(min(first, self._end))
        kept = numpy.concatenate(self._pieces)
        self._pieces = [kept]
        inside = kept[max(first - self._kept, 0) : first + pace.width - self._kept]
        ahead = max(self._kept - first, 0)
        samples = numpy.pad(inside, ((ahead, pace.width - ahead - len(inside)), (0, 0)))
        left = -(-((self._end - self._start) * pace.target - self._rest) // pace.source)
        hop, rest = divmod(self._rest + self._form.hop * pace.source, pace.target)
        place = (late, self._ahead, max(self._form.hop - left, 0))
        return _Taken(SoundPiece(samples, pace.rate, place), self._start + hop, rest)

    def _window(self, pace: _Pace) -> tuple[int, int]:
        """The first frame of the next run, and the time from it to the first sample of the model."""
        before, late = divmod(self._rest - (self._form.length - self._form.hop) * pace.source, pace.target)
        return self._start + before - pace.reach, late + pace.reach * pace.target

    def _go_on(self, result: Result, taken: _Taken) -> Heard[Result]:
        heard = Heard(result, self._start, min(taken.next, self._end), self._dropped)
        self._start, self._rest, self._dropped = taken.next, taken.rest, 0
        self._ahead = max(self._ahead - self._form.hop, 0)
        return heard

    def _renew(self) -> None:
        self._pace = None
        self._pieces = []
        self._kept = self._end = self._dropped = 0
        self._is_flushed = False
        self._start_at(0)

    def _start_at(self, frame: int) -> None:
        self._start, self._rest, self._ahead = frame, 0, self._form.length - self._form.hop
        self._step = self._begin()

    def _forget(self, frame: int) -> None:
        """Keeps the frames from `frame` on."""
        while self._kept < frame:
            first, count = self._pieces[0], frame - self._kept
            self._pieces[:1] = [first[count:]] if count < len(first) else []
            self._kept += min(count, len(first))
        if not self._pieces and self._pace:
            self._pieces = [numpy.zeros((0, self._pace.channels), numpy.float32)]

    def _pace_of(self, rate: int, channels: int) -> _Pace:
        known, form = self._pace, self._form
        if known and (rate, channels) != (known.rate, known.channels):
            before = f"{known.rate} frames per second and {known.channels} channels"
            raise _refused(
                f"the sound has {rate} frames per second and {channels} channels, and the stream began with {before}"
            )
        source, target = rate // gcd(rate, form.rate), form.rate // gcd(rate, form.rate)
        reach = 0 if source == target else -(-600 * source // (99 * min(source, target)))
        width = -(-(form.length - 1) * source // target) + 2 * reach + 1
        limit = self._queue_ms * rate // 1000
        if limit < width:
            words = f"queue_ms is {self._queue_ms}, and a run takes {-(-1000 * width // rate)} ms of sound"
            raise ModelError(ModelErrorCode.BAD_OPTIONS, words)
        return known or _Pace(rate, channels, source, target, reach, width, limit)


@dataclass(frozen=True)
class _Pace:
    """Rates in lowest terms, and frames of the sound."""

    rate: int
    channels: int
    source: int
    target: int
    reach: int
    """frames on either side that contribute to a sample"""
    width: int
    """frames that a run takes"""
    limit: int
    """frames that may wait"""


@dataclass(frozen=True)
class _Taken:
    """A run's part of the sound, and where the next hop begins."""

    piece: SoundPiece
    next: int
    rest: int


def _refused(words: str) -> ModelError:
    return ModelError(ModelErrorCode.BAD_INPUT, words)
