"""Rows of results: the rounds of a model with a provider on a device, and their statistics."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from packager.measuring.bench import statistics
from packager.measuring.bench.document import RoundEntry, RowEntry
from packager.measuring.devices.device_answers import OpenedModel, PackagedModel, Timed
from packager.measuring.devices.document import DeviceRow
from packager.measuring.devices.link import Device

if TYPE_CHECKING:
    import numpy

NS_PER_MS = 1e6


@dataclass(frozen=True, kw_only=True)
class DeviceSample:
    """The inputs that a model runs on, and the outputs that are expected."""

    path: Path
    """.npz keyed by input name"""
    expected: "Mapping[str, numpy.ndarray]"
    batch: int = 1


@dataclass(frozen=True, kw_only=True)
class DeviceRound:
    timed: Timed
    load_s: float
    base_bytes: int | None


@dataclass(kw_only=True)
class DeviceContender:
    """A model with a provider, and its rounds so far."""

    model: PackagedModel
    provider: str
    sample: DeviceSample
    folder: Path
    rounds: list[DeviceRound] = field(default_factory=list)
    about: OpenedModel | None = None
    refusal: str = ""
    """why it takes part in no further round"""
    error: float | None = None
    """largest difference from the expected outputs, as a share of their largest value"""
    differs: bool = False

    @property
    def data(self) -> str:
        """Name of the folder with what the package keeps on the device."""
        return f"{self.model.class_name}.{self.provider}"


def rows_of(device: Device, contenders: Sequence[DeviceContender], threads: int) -> tuple[DeviceRow, ...]:
    """The rows of a device, the first contender of each model as that which the others are compared with."""
    first: dict[str, DeviceContender] = {}
    found: list[DeviceRow] = []
    for each in contenders:
        if each.rounds and each.about:
            beside = first.setdefault(each.model.name, each)
            found.append(_row(device, each, beside, threads, len(found) + 1))
    return tuple(found)


def times_of(contender: DeviceContender) -> list[tuple[int, ...]]:
    return [each.timed.times.times_ns for each in contender.rounds]


def _row(device: Device, contender: DeviceContender, beside: DeviceContender, threads: int, number: int) -> DeviceRow:
    about = contender.about
    assert about
    last = contender.rounds[-1].timed
    skipped = {
        "assignment": about.assigned is None
        and "ONNX Runtime records none for this file, or the package has no library for this processor",
        "PSS": last.pss_bytes is None and "the device has no /proc/self/smaps",
        "warm load": len(contender.rounds) == 1 and "it needs two rounds",
        "p99": len(statistics.all_of(times_of(contender))) < statistics.P99_RUNS and "it needs 100 runs",
    }
    return DeviceRow(
        device=device.serial,
        provider=contender.provider,
        row=_row_entry(device, contender, beside, about, threads, number),
        cold_load_ms=1000 * contender.rounds[0].load_s,
        first_run_ms=statistics.median([each.timed.first_ns for each in contender.rounds]) / NS_PER_MS,
        pss_bytes=last.pss_bytes,
        mapped_bytes=last.mapped_bytes,
        assigned=about.assigned,
        skipped=tuple(f"{name}: {reason}" for name, reason in skipped.items() if reason),
    )


def _row_entry(
    device: Device, contender: DeviceContender, beside: DeviceContender, about: OpenedModel, threads: int, number: int
) -> RowEntry:
    rounds = times_of(contender)
    times = statistics.all_of(rounds)
    middle = statistics.median(times)
    interval = statistics.median_interval(rounds)
    ratio = statistics.ratio(rounds, times_of(beside), is_paired=len(rounds) == len(beside.rounds))
    warm = [each.load_s for each in contender.rounds[1:]]
    peaks = [each.timed.times.peak_bytes for each in contender.rounds if each.timed.times.peak_bytes]
    own = [each.nodes for each in about.assigned or () if each.provider.lower() == contender.provider]
    return RowEntry(
        number=number,
        model=contender.model.name,
        variant="package",
        file=f"{Path(about.file).name.removesuffix('.tflite')} {about.sha256[:8]}",
        is_original=False,
        sha256=about.sha256,
        size_bytes=about.size_bytes,
        ships_for=(),
        runner=f"{device.model or device.serial} {contender.provider}",
        about=f"ONNX Runtime {about.runtime}",
        placed=sum(own) if about.assigned is not None else None,
        nodes=sum(each.nodes for each in about.assigned) if about.assigned is not None else None,
        threads=threads,
        p50_ms=middle / NS_PER_MS,
        p50_low_ms=interval.low / NS_PER_MS,
        p50_high_ms=interval.high / NS_PER_MS,
        p90_ms=statistics.quantile(times, 0.9) / NS_PER_MS,
        p99_ms=statistics.quantile(times, 0.99) / NS_PER_MS if len(times) >= statistics.P99_RUNS else None,
        slowest_ms=max(times) / NS_PER_MS,
        runs=len(times),
        outliers=statistics.outlier_count(times),
        round_medians_ms=tuple(statistics.median(each) / NS_PER_MS for each in rounds),
        is_noisy=statistics.is_noisy(rounds),
        items_per_second=contender.sample.batch / (middle / 1e9),
        load_ms=1000 * statistics.median(warm) if warm else None,
        peak_bytes=max(peaks, default=None),
        base_bytes=max((each.base_bytes for each in contender.rounds if each.base_bytes), default=None),
        cpu_ms=sum(each.timed.times.cpu_ns for each in contender.rounds) / len(times) / NS_PER_MS,
        ratio=ratio.value,
        ratio_low=ratio.interval.low,
        ratio_high=ratio.interval.high,
        error=contender.error,
        differs=contender.differs,
        rounds=tuple(map(_round_entry, contender.rounds)),
    )


def _round_entry(each: DeviceRound) -> RoundEntry:
    times = each.timed.times
    return RoundEntry(
        times_ns=times.times_ns,
        warm_up_ns=times.warm_up_ns,
        cpu_ns=times.cpu_ns,
        load_ms=1000 * each.load_s,
        peak_bytes=times.peak_bytes,
        base_bytes=each.base_bytes,
    )
