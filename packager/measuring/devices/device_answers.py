"""Answers of the program on a device, as values: models, times, tests. A device may answer anything: what has another
form raises one of `parsing.DAMAGE`."""

from dataclasses import dataclass
from typing import Any

from packager.core.parsing import Json
from packager.engines.runners import Times


@dataclass(frozen=True, kw_only=True)
class Timed:
    """One round of times on a device, with what is measured besides."""

    times: Times
    first_ns: int = 0
    """of the first run after the load"""
    pss_bytes: int | None = None
    """its share of the memory that it uses, at the end"""
    mapped_bytes: int | None = None
    """of the files of models that it has mapped"""


@dataclass(frozen=True, kw_only=True)
class Assigned:
    provider: str
    nodes: int
    macs: int = 0
    """multiply-accumulates in them, as far as the build has counted"""


@dataclass(frozen=True, kw_only=True)
class Proved:
    """A provider that the package has proved, or left out."""

    is_proved: bool
    reason: str
    ms: float | None
    cpu_ms: float | None


@dataclass(frozen=True, kw_only=True)
class OpenedModel:
    """A model that is open."""

    runtime: str
    provider: str
    """that started"""
    fallbacks: tuple[str, ...] = ()
    """why others did not, as text"""
    assigned: tuple[Assigned, ...] | None = None
    """nodes of each provider; None if ONNX Runtime does not tell"""
    file: str = ""
    sha256: str = ""
    size_bytes: int = 0
    proofs: tuple[Proved, ...] = ()


@dataclass(frozen=True, kw_only=True)
class OutputTest:
    """An output of a sample, compared on the device with the values of the build machine."""

    name: str
    sample: int
    max_abs_error: float
    max_rel_error: float
    scale: float
    mismatch_count: int
    tolerance: float
    absolute_tolerance: float
    failure: str
    """empty if it passed"""


@dataclass(frozen=True, kw_only=True)
class PackagedModel:
    """A model of a package, as its class describes it."""

    class_name: str
    name: str
    version: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    providers: tuple[str, ...]
    """of the package, in lower case"""
    tests_itself: bool
    proves: bool = False
    """whether it can prove its providers"""


def timed_of(answer: Json) -> Timed:
    """The answer to a request for times."""
    if answer["error"]:
        return Timed(times=Times(error=str(answer["error"])))
    times = Times(
        warm_up_ns=tuple(map(int, answer["warm_up_ns"])),
        times_ns=tuple(map(int, answer["times_ns"])),
        cpu_ns=int(answer["cpu_ns"] or 0),
        peak_bytes=_known(answer["peak_bytes"]),
    )
    return Timed(
        times=times,
        first_ns=int(answer["first_ns"]),
        pss_bytes=_known(answer["pss_bytes"]),
        mapped_bytes=_known(answer["mapped_bytes"]),
    )


def _known(value: Any) -> int | None:
    return None if value is None else int(value)


def tests_of(answer: Json) -> tuple[OutputTest, ...]:
    """The answer to a request for a self-test."""
    return tuple(
        OutputTest(
            name=str(each["name"]),
            sample=int(each["sample"]),
            max_abs_error=float(each["maxAbsError"]),
            max_rel_error=float(each["maxRelError"]),
            scale=float(each["scale"]),
            mismatch_count=int(each["mismatchCount"]),
            tolerance=float(each["tolerance"]),
            absolute_tolerance=float(each["absoluteTolerance"]),
            failure=str(each["failure"]),
        )
        for each in answer["outputs"]
    )


def about_of(answer: Json) -> OpenedModel:
    """The answer to a request to open a model."""
    found = answer.get("assignment")
    return OpenedModel(
        runtime=str(answer["version"]),
        provider=str(answer["provider"]).lower(),
        fallbacks=tuple(f"{each['provider']}: {each['reason']}" for each in answer.get("fallbacks", ())),
        assigned=None
        if found is None
        else tuple(
            Assigned(provider=str(each["provider"]), nodes=int(each["nodes"]), macs=int(each.get("macs", 0)))
            for each in found
        ),
        file=str(answer.get("file", "")),
        sha256=str(answer.get("sha256", "")),
        size_bytes=int(answer.get("size", 0)),
        proofs=tuple(
            Proved(
                is_proved=bool(each["is-proved"]),
                reason=str(each["reason"]),
                ms=_ms(each["seconds"]),
                cpu_ms=_ms(each["cpu-seconds"]),
            )
            for each in answer.get("proofs", ())
        ),
    )


def _ms(seconds: float | None) -> float | None:
    return None if seconds is None else float(seconds) * 1e3


def models_of(answer: Json) -> tuple[PackagedModel, ...]:
    """The answer to a request to describe a package."""
    return tuple(
        PackagedModel(
            class_name=str(each["class"]),
            name=str(each["name"]),
            version=str(each["version"]),
            inputs=tuple(map(str, each["inputs"])),
            outputs=tuple(map(str, each["outputs"])),
            providers=tuple(str(name).lower() for name in each["providers"]),
            tests_itself=bool(each["tests-itself"]),
            proves=bool(each.get("proves")),
        )
        for each in answer["models"]
    )
