"""The parts of a manifest that are compared, typed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from packager.core import parsing, user_files
from packager.core.errors import ConfigError
from packager.core.parsing import Json
from packager.distribution.release.evidence import EVIDENCE
from packager.distribution.release.manifest import SCHEMA_VERSION
from packager.distribution.release.publish import MANIFEST, MAX_MANIFEST_BYTES

WORDS = ("labels", "alphabet")
LIMITS = ("top-k", "threshold", "start-size")
"""settings that contracts have, too"""
BROKEN = (ValueError, KeyError, TypeError, AttributeError, RecursionError)
"""Exceptions of JSON that is cut, too deep, or something else's."""


@dataclass(frozen=True, kw_only=True)
class Tensor:
    name: str
    identifier: str
    element: str
    shape: tuple[int | str | None, ...]


@dataclass(frozen=True, kw_only=True)
class Part:
    """A value that apps pass to the method of a model, or get."""

    identifier: str
    kind: str
    words: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """`labels` and `alphabet`, in the order of the model's numbers"""
    limits: Mapping[str, object] = field(default_factory=dict)
    """settings that decide how many results there are"""
    scores: str = ""
    """tensor with a number for each label; empty where there is none"""


@dataclass(frozen=True, kw_only=True)
class Method:
    name: str
    inputs: tuple[Part, ...]
    outputs: tuple[Part, ...]


@dataclass(frozen=True, kw_only=True)
class Model:
    name: str
    sha256: str
    parameters: int
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    contract: Method | None
    """None for a model of tensors, and in manifests without contracts"""
    settings: Mapping[str, Mapping[str, Mapping[str, object]]]
    """tables of its inputs and outputs in mobpack.toml; empty without any"""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Files of a model for one target."""

    model: str
    target: str
    inside: str
    providers: tuple[str, ...]
    """in the order in which they are tried, those for certain chips as `qnn for SM8650`"""
    size_bytes: int
    """of its distinct files"""
    files: tuple[str, ...]
    """sha256 of its files, sorted"""
    forms: tuple[str, ...]
    """variant, quantizer, style and format of each, sorted"""


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """A comparison with the original, for one output."""

    model: str
    variant: str
    runner: str
    style: str
    output: str
    error: float
    """largest, as a share of the output's scale"""
    tolerance: float
    from_original: float | None
    """of a quantized model"""
    agreement: float | None
    """share of rows whose largest number is the original's"""


@dataclass(frozen=True, kw_only=True)
class Artifact:
    target: str
    kind: str
    path: str
    sha256: str
    size_bytes: int


@dataclass(frozen=True, kw_only=True)
class Manifest:
    mobpack: str
    name: str
    version: str
    license: str
    models: Mapping[str, Model]
    plans: tuple[Plan, ...]
    measurements: tuple[Measurement, ...]
    runtimes: Mapping[str, str]
    ranges: Mapping[str, str]
    """target -> oldest runtime that an app may bring"""
    processors: Mapping[str, tuple[str, ...]]
    """target -> processors of the project's own runtime"""
    converter: Mapping[str, str]
    warnings: tuple[str, ...]
    artifacts: tuple[Artifact, ...]
    targets: tuple[str, ...]


def read(folder: Path) -> Manifest:
    """The manifest of a release. Raises ConfigError if it cannot be read, or is a newer mobpack's."""
    path = folder / MANIFEST
    try:
        document = parsing.json_of(user_files.read(path, limit_bytes=MAX_MANIFEST_BYTES))
        schema = document["schema-version"]
        if isinstance(schema, int) and schema > SCHEMA_VERSION:
            raise ConfigError(
                f"{path} has schema version {schema}, and this mobpack reads {SCHEMA_VERSION}",
                hint=f"use the mobpack that built it ({document.get('mobpack', 'a newer one')}) or a newer one",
            )
        return _manifest(document, _compared(folder, document))
    except OSError as error:
        raise ConfigError(
            f"{folder} is not a release of mobpack: {path} cannot be read ({error.strerror})",
            hint="name a folder that `mobpack build` wrote, such as dist, or a package in it",
        ) from error
    except BROKEN as error:
        raise ConfigError(
            f"{path} is not a manifest of mobpack: {type(error).__name__} {error}", hint="build the packages again"
        ) from error


def _compared(folder: Path, document: Json) -> Sequence[Json]:
    """Results of runners, as the machine of the build measured them; earlier manifests have it themselves."""
    path = folder / EVIDENCE
    if "parity" not in document and path.is_file():
        return list(parsing.json_of(user_files.read(path, limit_bytes=MAX_MANIFEST_BYTES))["parity"])
    return list(document.get("parity", ()))


def _manifest(found: Json, compared: Sequence[Json]) -> Manifest:
    options = found["options"]
    contracts = _table(options.get("contract", {}))
    artifacts = tuple(_artifact(each) for each in found["artifacts"])
    targets = options.get("target", {})
    return Manifest(
        mobpack=str(found["mobpack"]),
        name=str(found["package"]["name"]),
        version=str(found["package"]["version"]),
        license=str(found["package"]["license"]),
        models={str(each["name"]): _model(each, _table(contracts.get(each["name"], {}))) for each in found["models"]},
        plans=tuple(_plan(each, found["compiled"]) for each in found["plans"]),
        measurements=tuple(each for parity in compared for each in _measurements(parity)),
        runtimes=_strings(found["runtimes"]),
        ranges={name: str(table.get("runtime-range", "")) for name, table in targets.items()},
        processors={name: tuple(map(str, each["processors"])) for name, each in found["own-runtimes"].items()},
        converter=_strings(found["converter"]),
        warnings=tuple(map(str, found["warnings"])),
        artifacts=artifacts,
        targets=tuple(sorted({each.target for each in artifacts})),
    )


def _table(found: Any) -> dict[str, Any]:
    """Raises TypeError for anything but a table."""
    if not isinstance(found, dict):
        raise TypeError(f"{found!r} is not a table")
    return found


def _contract(found: Any) -> Method:
    return Method(
        name=str(_table(found)["method"]),
        inputs=tuple(_part(each) for each in found["inputs"]),
        outputs=tuple(_part(each) for each in found["outputs"]),
    )


def _part(found: Any) -> Part:
    return Part(
        identifier=str(_table(found)["identifier"]),
        kind=str(found["kind"]),
        words={key: tuple(map(str, found[key])) for key in WORDS if key in found},
        limits={key: found[key] for key in LIMITS if key in found},
        scores=str(found.get("scores", "")),
    )


def _model(found: Json, settings: Json) -> Model:
    return Model(
        name=str(found["name"]),
        sha256=str(found["sha256"]),
        parameters=int(found["parameters"]),
        inputs=tuple(_tensor(each) for each in found["inputs"]),
        outputs=tuple(_tensor(each) for each in found["outputs"]),
        contract=_contract(found["contract"]) if "contract" in found else None,
        settings={
            kind: {str(name): _table(each) for name, each in _table(settings.get(kind, {})).items()}
            for kind in ("inputs", "outputs")
            if settings
        },
    )


def _tensor(found: Json) -> Tensor:
    return Tensor(
        name=str(found["name"]),
        identifier=str(found["identifier"]),
        element=str(found["element"]),
        shape=tuple(each if isinstance(each, int) or each is None else str(each) for each in found["shape"]),
    )


def _plan(found: Json, compiled: list[Json]) -> Plan:
    used = {str(each["sha256"]) for each in found["choices"]}
    files = [each for each in compiled if each["model"] == found["model"] and each["sha256"] in used]
    return Plan(
        model=str(found["model"]),
        target=str(found["target"]),
        inside=str(found["inside"]),
        providers=tuple(
            f"{each['provider']} for {', '.join(map(str, each['chips']))}" if each["chips"] else str(each["provider"])
            for each in found["choices"]
        ),
        size_bytes=sum(int(each["size-bytes"]) for each in files),
        files=tuple(sorted(used)),
        forms=tuple(
            sorted(f"{each['variant']} ({each['quantizer']}), {each['style']}, {each['format']}" for each in files)
        ),
    )


def _measurements(found: Json) -> list[Measurement]:
    return [
        Measurement(
            model=str(found["model"]),
            variant=str(found["variant"]),
            runner=str(found["runner"]),
            style=str(found["style"]),
            output=str(each["name"]),
            error=_number(each["max-rel-error"]),
            tolerance=_number(found["tolerance"]),
            from_original=_number(found["from-original"]) if "from-original" in found else None,
            agreement=_number(each["top1-agreement"]) if "top1-agreement" in each else None,
        )
        for each in found.get("outputs", [])
    ]


def _strings(found: Any) -> dict[str, str]:
    return {name: str(value) for name, value in _table(found).items()}


def _number(found: Any) -> float:
    return float(found)


def _artifact(found: Json) -> Artifact:
    return Artifact(
        target=str(found["target"]),
        kind=str(found["kind"]),
        path=str(found["path"]),
        sha256=str(found["sha256"]),
        size_bytes=int(found["size-bytes"]),
    )
