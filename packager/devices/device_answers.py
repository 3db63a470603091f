"""Answers of the program on a device, as values: models, times, tests."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from packager.runners import Times


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
class About:
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


def timed_of(answer: Mapping[str, Any]) -> Timed:
    """The answer to a request for times."""
    if answer["error"]:
        return Timed(times=Times(error=answer["error"]))
    times = Times(
        warm_up_ns=tuple(answer["warm_up_ns"]),
        times_ns=tuple(answer["times_ns"]),
        cpu_ns=answer["cpu_ns"] or 0,
        peak_bytes=answer["peak_bytes"],
    )
    return Timed(
        times=times,
        first_ns=answer["first_ns"],
        pss_bytes=answer["pss_bytes"],
        mapped_bytes=answer["mapped_bytes"],
    )


def tests_of(answer: Mapping[str, Any]) -> tuple[OutputTest, ...]:
    """The answer to a request for a self-test."""
    return tuple(
        OutputTest(
            name=each["name"],
            sample=each["sample"],
            max_abs_error=float(each["maxAbsError"]),
            max_rel_error=float(each["maxRelError"]),
            scale=float(each["scale"]),
            mismatch_count=each["mismatchCount"],
            tolerance=float(each["tolerance"]),
            absolute_tolerance=float(each["absoluteTolerance"]),
            failure=each["failure"],
        )
        for each in answer["outputs"]
    )


def about_of(answer: Mapping[str, Any]) -> About:
    """The answer to a request to open a model."""
    found = answer.get("assignment")
    return About(
        runtime=answer["version"],
        provider=str(answer["provider"]).lower(),
        fallbacks=tuple(f"{each['provider']}: {each['reason']}" for each in answer.get("fallbacks", ())),
        assigned=None
        if found is None
        else tuple(
            Assigned(provider=each["provider"], nodes=each["nodes"], macs=each.get("macs", 0)) for each in found
        ),
        file=answer.get("file", ""),
        sha256=answer.get("sha256", ""),
        size_bytes=answer.get("size", 0),
    )


def models_of(answer: Mapping[str, Any]) -> tuple[PackagedModel, ...]:
    """The answer to a request to describe a package."""
    return tuple(
        PackagedModel(
            class_name=each["class"],
            name=each["name"],
            version=each["version"],
            inputs=tuple(each["inputs"]),
            outputs=tuple(each["outputs"]),
            providers=tuple(name.lower() for name in each["providers"]),
            tests_itself=each["tests-itself"],
        )
        for each in answer["models"]
    )
