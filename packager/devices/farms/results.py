"""Rows of what an app or a test has left on a device that nobody asked: the same as `mobpack device bench` gives."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

from packager.core.errors import ToolError
from packager.devices.device_answers import PackagedModel, about_of, tests_of, timed_of
from packager.devices.document import STRICT, DeviceEntry, DeviceRow, NotMeasured, PackageEntry
from packager.devices.farms.collecting import Result
from packager.devices.link import Device
from packager.devices.rows import Contender, Round, Sample, rows_of

HINT = "the app or test was made by another version of mobpack, or changed: make it anew, and run it again"


@dataclass(frozen=True, kw_only=True)
class FarmDevice:
    """A device as it says of itself."""

    maker: str
    model: str
    soc: str
    api: int
    release: str
    abi: str
    fingerprint: str


@dataclass(frozen=True, kw_only=True)
class Exchange:
    """One load of a model with a provider, and the runs after it."""

    model: str
    provider: str
    round: int
    open: dict[str, Any]
    time: dict[str, Any]
    self_test: dict[str, Any] | None


@dataclass(frozen=True, kw_only=True)
class FarmDocument:
    """All that an app or a test leaves."""

    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    schema_version: Literal[1]
    package: PackageEntry
    device: FarmDevice
    threads: int
    exchanges: tuple[Exchange, ...]


@dataclass(frozen=True, kw_only=True)
class Measured:
    """Everything that one document says."""

    device: DeviceEntry
    package: PackageEntry
    threads: int
    rounds: int
    rows: tuple[DeviceRow, ...]
    skipped: tuple[NotMeasured, ...]


def measured(result: Result, serial: str) -> Measured:
    """The rows of one document; `serial` names the device, as farms do not tell the serial number.

    Raises ToolError for a document of another form.
    """
    try:
        document = _document(result.document)
        contenders = list(_contenders(document.exchanges))
    except (KeyError, TypeError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise ToolError(f"{result.place} has results that mobpack does not know: {reason}", hint=HINT) from error
    known = document.device
    device = Device(
        serial=serial,
        maker=known.maker,
        model=known.model,
        soc=known.soc,
        api=known.api,
        release=known.release,
        abis=(known.abi,),
        fingerprint=known.fingerprint,
    )
    entry = DeviceEntry(
        serial=serial,
        state="measured",
        reason="",
        maker=known.maker,
        model=known.model,
        soc=known.soc,
        api=known.api,
        release=known.release,
        abi=known.abi,
        fingerprint=known.fingerprint,
        skipped=("heat, clocks and battery: an app may not read them",),
    )
    skipped = tuple(
        NotMeasured(device=serial, model=each.model.name, provider=each.provider, reason=each.refusal)
        for each in contenders
        if not each.rounds
    )
    return Measured(
        device=entry,
        package=document.package,
        threads=document.threads,
        rounds=max((len(each.rounds) for each in contenders), default=0),
        rows=rows_of(device, contenders, document.threads),
        skipped=skipped,
    )


def _document(raw: Mapping[str, Any]) -> FarmDocument:
    from pydantic import TypeAdapter

    return TypeAdapter(FarmDocument).validate_python(dict(raw))


def _contenders(exchanges: Sequence[Exchange]) -> Iterator[Contender]:
    """Models with their providers, the CPU first: others are compared with it."""
    found: dict[tuple[str, str], Contender] = {}
    for each in sorted(exchanges, key=lambda each: (each.round, each.model, each.provider.lower() != "cpu")):
        key = (each.model, each.provider.lower())
        contender = found.setdefault(key, _contender(*key))
        if not contender.refusal:
            _add(contender, each)
    return iter(found.values())


def _contender(name: str, provider: str) -> Contender:
    model = PackagedModel(class_name="", name=name, version="", inputs=(), outputs=(), providers=(), tests_itself=True)
    return Contender(model=model, provider=provider, sample=Sample(path=Path(), expected={}), folder=Path())


def _add(contender: Contender, each: Exchange) -> None:
    """Adds a round, or the reason why there is none."""
    for answer in (each.open, each.time):
        if failure := answer.get("refused") or answer.get("broken") or answer.get("error"):
            contender.refusal = str(failure)
            return
    about = about_of(each.open)
    if about.provider != contender.provider:
        contender.refusal = "; ".join(about.fallbacks) or f"{about.provider} started in its place"
        return
    contender.about = about
    contender.rounds.append(
        Round(
            timed=timed_of(each.time),
            load_s=each.open["load_ns"] / 1e9,
            base_bytes=each.open.get("base_bytes"),
        )
    )
    if each.self_test is not None:
        _compare(contender, each.self_test)


def _compare(contender: Contender, answer: Mapping[str, Any]) -> None:
    if "outputs" not in answer:
        contender.differs = True
        return
    tests = tests_of(answer)
    contender.error = max((test.max_rel_error for test in tests), default=None)
    contender.differs = any(test.failure for test in tests)
