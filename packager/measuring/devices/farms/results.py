"""Rows of what an app or a test has left on a device that nobody asked: the same as `mobpack device bench` gives."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

from packager.core.errors import ToolError
from packager.core.parsing import Json
from packager.core.strict_tables import DOCUMENT
from packager.measuring.devices.device_answers import PackagedModel, about_of, tests_of, timed_of
from packager.measuring.devices.document import DeviceEntry, DeviceRow, NotMeasured, PackageEntry, Verdict
from packager.measuring.devices.farms.collecting import CollectedDocument
from packager.measuring.devices.link import Device
from packager.measuring.devices.proving import verdicts
from packager.measuring.devices.rows import DeviceContender, DeviceRound, DeviceSample, rows_of

if TYPE_CHECKING:
    from pydantic import TypeAdapter

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
    open: Json
    time: Json
    self_test: Json | None
    threads: int = 0
    """0: those of the document"""
    options: dict[str, str] = field(default_factory=dict)
    """of the provider, that differ from those of the package"""
    proof: Json | None = None
    """a load with a proof of the provider; None where there was none"""

    @property
    def is_as_shipped(self) -> bool:
        return not self.threads and not self.options


@dataclass(frozen=True, kw_only=True)
class Tried:
    """A way to run models."""

    provider: str
    threads: int
    options: dict[str, str]


@dataclass(frozen=True, kw_only=True)
class SearchEntry:
    """Bounds of a search for the fastest settings, whose rounds a document has, and all that it may try."""

    most: int
    minutes: float
    seconds: float
    runs: int
    candidates: tuple[Tried, ...]
    """those without settings first, in the order in which the package tries them"""
    variant: str = ""
    """of the models in the package; empty if no manifest told it"""


@dataclass(frozen=True, kw_only=True)
class FarmDocument:
    """Document that an app or a test leaves."""

    __pydantic_config__: ClassVar[Mapping[str, object]] = DOCUMENT

    schema_version: Literal[1]
    package: PackageEntry
    device: FarmDevice
    threads: int
    exchanges: tuple[Exchange, ...]
    tuning: SearchEntry | None = None
    """None where the package was measured as it is"""


@dataclass(frozen=True, kw_only=True)
class FarmResults:
    """Everything that one document says."""

    device: DeviceEntry
    package: PackageEntry
    threads: int
    rounds: int
    rows: tuple[DeviceRow, ...]
    skipped: tuple[NotMeasured, ...]
    verdicts: tuple[Verdict, ...]
    is_search: bool
    """whether there are other rounds than these, of a search"""


def measured(result: CollectedDocument, serial: str) -> FarmResults:
    """The rows of one document; `serial` names the device, as farms do not tell the serial number.

    Raises ToolError for a document of another form.
    """
    document = document_of(result)
    with _known(result):
        contenders = list(_contenders([each for each in document.exchanges if each.is_as_shipped]))
        proved = tuple(_verdicts(document.exchanges, serial))
    known = document.device
    device = device_of(document, serial)
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
    return FarmResults(
        device=entry,
        package=document.package,
        threads=document.threads,
        rounds=max((len(each.rounds) for each in contenders), default=0),
        rows=rows_of(device, contenders, document.threads),
        skipped=skipped,
        verdicts=proved,
        is_search=document.tuning is not None,
    )


def document_of(result: CollectedDocument) -> FarmDocument:
    """Raises ToolError for a document of another form."""
    with _known(result):
        return _adapter().validate_python(dict(result.document))


@cache
def _adapter() -> "TypeAdapter[FarmDocument]":
    """Made once: it takes longer than reading a document."""
    from pydantic import TypeAdapter

    return TypeAdapter(FarmDocument)


def device_of(document: FarmDocument, serial: str) -> Device:
    """The device of a document; `serial` names it, as farms do not tell the serial number."""
    known = document.device
    return Device(
        serial=serial,
        maker=known.maker,
        model=known.model,
        soc=known.soc,
        api=known.api,
        release=known.release,
        abis=(known.abi,),
        fingerprint=known.fingerprint,
    )


def failure_of(each: Exchange) -> str:
    """Why a round has no times; empty if it has some."""
    for answer in (each.open, each.time):
        if failure := answer.get("refused") or answer.get("broken") or answer.get("error"):
            return str(failure)
    about = about_of(each.open)
    if about.provider == each.provider.lower():
        return ""
    return "; ".join(about.fallbacks) or f"{about.provider} started in its place"


@contextmanager
def _known(result: CollectedDocument) -> Iterator[None]:
    """Raises ToolError for what no document of mobpack has."""
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ToolError(f"{result.place} has results that mobpack does not know: {reason}", hint=HINT) from error


def _verdicts(exchanges: Iterable[Exchange], serial: str) -> Iterator[Verdict]:
    for each in exchanges:
        if each.proof and "proofs" in each.proof:
            yield from verdicts(about_of(each.proof), serial, each.model, each.provider.lower())


def _contenders(exchanges: Sequence[Exchange]) -> Iterator[DeviceContender]:
    """Models with their providers, the CPU first: others are compared with it."""
    found: dict[tuple[str, str], DeviceContender] = {}
    for each in sorted(exchanges, key=lambda each: (each.round, each.model, each.provider.lower() != "cpu")):
        key = (each.model, each.provider.lower())
        contender = found.setdefault(key, _contender(*key))
        if not contender.refusal:
            _add(contender, each)
    return iter(found.values())


def _contender(name: str, provider: str) -> DeviceContender:
    model = PackagedModel(class_name="", name=name, version="", inputs=(), outputs=(), providers=(), tests_itself=True)
    return DeviceContender(model=model, provider=provider, sample=DeviceSample(path=Path(), expected={}), folder=Path())


def _add(contender: DeviceContender, each: Exchange) -> None:
    """Adds a round, or the reason why there is none."""
    if failure := failure_of(each):
        contender.refusal = failure
        return
    contender.about = about_of(each.open)
    contender.rounds.append(
        DeviceRound(
            timed=timed_of(each.time),
            load_s=each.open["load_ns"] / 1e9,
            base_bytes=each.open.get("base_bytes"),
        )
    )
    if each.self_test is not None:
        _compare(contender, each.self_test)


def _compare(contender: DeviceContender, answer: Json) -> None:
    if "outputs" not in answer:
        contender.differs = True
        return
    tests = tests_of(answer)
    contender.error = max((test.max_rel_error for test in tests), default=None)
    contender.differs = any(test.failure for test in tests)
