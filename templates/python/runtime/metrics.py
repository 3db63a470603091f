"""Counts what a model does, for a dashboard or a log."""

from __future__ import annotations

import bisect
import math
import threading
from dataclasses import dataclass

BOUNDS = [1e-6 * 1.1**index for index in range(218)]
"""Upper bounds of the buckets in seconds, up to a quarter of an hour: percentiles are at most 10 % too high."""


@dataclass(frozen=True)
class Metrics:
    """Counts of one model until now. Times are in seconds, 0 before the first run."""

    model: str
    version: str
    provider: str
    load_duration: float
    runs: int
    """those that failed included"""
    errors: int
    mean: float
    p50: float
    """half of all runs took no longer"""
    p90: float
    p99: float

    def attributes(self) -> dict[str, str | int | float]:
        """The counts under names as OpenTelemetry has them."""
        return {
            "mobpack.model.name": self.model,
            "mobpack.model.version": self.version,
            "mobpack.provider": self.provider,
            "mobpack.load.duration": self.load_duration,
            "mobpack.run.count": self.runs,
            "mobpack.run.errors": self.errors,
            "mobpack.run.duration.p50": self.p50,
            "mobpack.run.duration.p90": self.p90,
            "mobpack.run.duration.p99": self.p99,
        }


class Counts:
    """Durations of runs, in buckets."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._buckets = [0] * (len(BOUNDS) + 1)
        self._sum = self._longest = 0.0
        self._errors = 0

    def add(self, seconds: float, *, failed: bool) -> None:
        with self._lock:
            if failed:
                self._errors += 1
                return
            self._buckets[bisect.bisect_left(BOUNDS, seconds)] += 1
            self._sum += seconds
            self._longest = max(self._longest, seconds)

    def metrics(self, model: str, version: str, provider: str, load_duration: float) -> Metrics:
        with self._lock:
            count = sum(self._buckets)
            p50, p90, p99 = (self._percentile(share, count) for share in (0.5, 0.9, 0.99))
            return Metrics(
                model=model,
                version=version,
                provider=provider,
                load_duration=load_duration,
                runs=count + self._errors,
                errors=self._errors,
                mean=self._sum / count if count else 0.0,
                p50=p50,
                p90=p90,
                p99=p99,
            )

    def _percentile(self, share: float, count: int) -> float:
        """The bound of the bucket with the duration that at least `share` of all are not longer than."""
        rank, below = math.ceil(share * count), 0
        for bucket, bound in zip(self._buckets, BOUNDS, strict=False):
            below += bucket
            if count and below >= rank:
                return min(bound, self._longest)
        return self._longest
