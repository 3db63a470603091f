"""Compares results of devices with those of an earlier run, device by device: the test is that of `mobpack bench`."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from packager.core.errors import ConfigError
from packager.measuring.bench.comparing import comparison
from packager.measuring.bench.document import ComparisonEntry
from packager.measuring.devices.document import DeviceDocument, DeviceEntry, DeviceRow

HINT = "write one with `mobpack device bench --json > before.json`, or --report, which writes JSON beside the page"
Key = tuple[str, str, str]
"""device, model and provider"""


@dataclass(frozen=True, kw_only=True)
class DeviceBaseline:
    name: str
    document: DeviceDocument


def read(path: Path) -> DeviceBaseline:
    """Raises ConfigError for a file that holds no results of devices."""
    from pydantic import TypeAdapter, ValidationError

    try:
        document = TypeAdapter(DeviceDocument).validate_json(path.read_bytes())
    except OSError as error:
        raise ConfigError(f"--baseline {path}: cannot read it ({error.strerror})", hint=HINT) from error
    except ValidationError as error:
        raise ConfigError(f"--baseline {path}: it holds no results of mobpack device bench", hint=HINT) from error
    return DeviceBaseline(name=path.name, document=document)


def compared(
    devices: Sequence[DeviceEntry], rows: Sequence[DeviceRow], baseline: DeviceBaseline, threads: int
) -> Iterator[ComparisonEntry]:
    """Each row that the baseline has, on the same device or on another one of its model and chip. Raises ConfigError if
    it was measured with other threads."""
    before = baseline.document
    if before.method.threads != threads:
        raise ConfigError(
            f"--baseline {baseline.name} was measured with --threads {before.method.threads}, not {threads}",
            hint="measure both with the same number of threads",
        )
    same = dict(_keyed(before.devices, before.rows, is_same=True))
    alike = dict(_keyed(before.devices, before.rows, is_same=False))
    for (key, row), (other, _) in zip(
        _keyed(devices, rows, is_same=True), _keyed(devices, rows, is_same=False), strict=True
    ):
        if earlier := same.get(key) or alike.get(other):
            yield comparison(row.row, earlier.row)


def _keyed(
    devices: Sequence[DeviceEntry], rows: Sequence[DeviceRow], *, is_same: bool
) -> Iterator[tuple[Key, DeviceRow]]:
    known = {each.serial: each for each in devices}
    for row in rows:
        device = known[row.device]
        name = device.serial if is_same else f"{device.maker} {device.model} {device.soc}"
        yield (name, row.row.model, row.provider), row
