"""Types of the JSON that `mobpack device` writes; docs/devices.schema.json is generated from them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from packager.core.strict_tables import DOCUMENT
from packager.measuring.bench.document import ComparisonEntry, RowEntry
from packager.measuring.devices.conditions import Conditions
from packager.measuring.devices.device_answers import Assigned, OutputTest


@dataclass(frozen=True, kw_only=True)
class PackageEntry:
    """The package that ran."""

    file: str
    """name of the library archive"""
    sha256: str
    runtime: str
    """archive that its ONNX Runtime comes from"""


@dataclass(frozen=True, kw_only=True)
class DeviceEntry:
    """A device that was asked for."""

    serial: str
    state: str
    """`measured`, `failed`, or why it took no commands: `offline`, `unauthorized`"""
    reason: str
    """why it was not measured, or not to the end; empty if it was"""
    maker: str = ""
    model: str = ""
    soc: str = ""
    """the chip, as the system names it"""
    api: int = 0
    """API level of Android"""
    release: str = ""
    abi: str = ""
    """the processor that ran the code"""
    fingerprint: str = ""
    """of the build of its system"""
    copied_bytes: int = 0
    """that it lacked"""
    before: Conditions | None = None
    after: Conditions | None = None
    charge_used_uah: int | None = None
    """charge that left the battery during the rounds, in microampere-hours; null while it charges"""
    restarts: int = 0
    """restarts during the rounds"""
    reconnects: int = 0
    """times that it was gone and came back"""
    waited_s: float = 0.0
    """time for which it cooled down"""
    skipped: tuple[str, ...] = ()
    """readings that are missing, with the reason"""


@dataclass(frozen=True, kw_only=True)
class DeviceRow:
    """A model on a device with a provider."""

    device: str
    """serial number"""
    provider: str
    row: RowEntry
    """times, as in the results of `mobpack bench`; `x` is the ratio to the CPU of the same device"""
    cold_load_ms: float
    """of the first load: nothing is cached by the package or by the provider"""
    first_run_ms: float
    """median over the rounds of the first run after a load"""
    pss_bytes: int | None
    """share of the memory that the process uses, after the runs; null if the device does not tell"""
    mapped_bytes: int | None
    """of the files of models that are mapped"""
    assigned: tuple[Assigned, ...] | None
    """nodes that each provider runs; null where ONNX Runtime does not tell"""
    skipped: tuple[str, ...] = ()
    """readings that are missing, with the reason"""


@dataclass(frozen=True, kw_only=True)
class MethodEntry:
    """How times were taken."""

    threads: int
    """0: as many as the package takes by itself"""
    rounds: int
    seconds: float
    runs: int
    warm_up_seconds: float
    cool_down_s: float
    """longest wait for a device that is throttled"""
    confidence: float


@dataclass(frozen=True, kw_only=True)
class NotMeasured:
    """A model with a provider that was not measured on a device."""

    device: str
    model: str
    provider: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """The decision of a package that proves its providers on a device."""

    device: str
    """serial number"""
    model: str
    provider: str
    is_proved: bool
    reason: str
    """why the provider is left out, in the package's words; empty for one that is proved"""
    ms: float | None = None
    """shortest of three runs of a sample; null where the proof ended before"""
    cpu_ms: float | None = None
    """shortest of three on the CPU"""


@dataclass(frozen=True, kw_only=True)
class DeviceDocument:
    """Result of `mobpack device bench`."""

    __pydantic_config__: ClassVar[Mapping[str, object]] = DOCUMENT

    schema_version: Literal[1]
    mobpack: str
    is_partial: bool
    """whether a device failed, or the measurement was interrupted: rounds are missing"""
    package: PackageEntry
    method: MethodEntry
    devices: tuple[DeviceEntry, ...]
    rows: tuple[DeviceRow, ...]
    skipped: tuple[NotMeasured, ...]
    baseline: str
    """name of the file with earlier results; empty without one"""
    comparisons: tuple[ComparisonEntry, ...]
    failed_gates: tuple[str, ...]
    verdicts: tuple[Verdict, ...] = ()


@dataclass(frozen=True, kw_only=True)
class TestRow:
    """The self-test of a model on a device with a provider."""

    device: str
    model: str
    provider: str
    passed: bool
    reason: str
    """why it did not run; empty if it did"""
    outputs: tuple[OutputTest, ...] = ()
    assigned: tuple[Assigned, ...] | None = None


@dataclass(frozen=True, kw_only=True)
class TestDocument:
    """Result of `mobpack device self-test`."""

    __pydantic_config__: ClassVar[Mapping[str, object]] = DOCUMENT

    schema_version: Literal[1]
    mobpack: str
    package: PackageEntry
    devices: tuple[DeviceEntry, ...]
    rows: tuple[TestRow, ...]
    verdicts: tuple[Verdict, ...] = ()
