"""The models that a channel delivers, as values, and `releases.json`, their strict, canonical JSON."""

import hashlib
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from typing import Any, get_args, get_origin, get_type_hints

from packager.core import parsing
from packager.core.errors import GateError
from packager.core.names import kebab_case
from packager.core.to_json import plain
from packager.signing.statements import payload

SCHEMA_VERSION = 1
MAX_RELEASES_BYTES = 5_000_000
MAX_INTEGER = 2**53 - 1
"""a double of JavaScript has every integer up to it"""
SHA256 = re.compile(r"[0-9a-f]{64}")
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
TIME = "%Y-%m-%dT%H:%M:%SZ"
BROKEN = (ValueError, TypeError, RecursionError)
AGAIN = "get the files of the channel again from where they were published, or from a copy of the store"


@dataclass(frozen=True, kw_only=True)
class Delta:
    """A blob that makes a file of the one that a device has."""

    source: str
    """sha256 of the file that the device has"""
    sha256: str
    size_bytes: int


@dataclass(frozen=True, kw_only=True)
class ChannelFile:
    """A blob, whose target has its sha256 for a name."""

    name: str
    """in the package; of data, the name under which the model file refers to it"""
    sha256: str
    size_bytes: int
    deltas: tuple[Delta, ...]


@dataclass(frozen=True, kw_only=True)
class Setting:
    """An entry of ONNX Runtime's session configuration, which a file needs to be opened."""

    key: str
    value: str


@dataclass(frozen=True, kw_only=True)
class Allowed:
    """Tolerance of an output of a self-test: the largest error may be `atol + rtol * scale`."""

    output: str
    rtol: float
    atol: float
    scale: float
    mismatches: int
    """values that may differ in any way"""


@dataclass(frozen=True, kw_only=True)
class ModelFile:
    """The files that a provider opens on a target."""

    target: str
    inside: str
    """the wrapper that takes the target's packages in, such as react_native; empty without one"""
    provider: str
    chips: tuple[str, ...]
    format: str
    runtime: str
    """ONNX Runtime that the files were proved to load in"""
    runtime_range: str
    """runtimes that an app may bring; empty: only the one above"""
    settings: tuple[Setting, ...]
    file: ChannelFile
    data: tuple[ChannelFile, ...]
    golden: tuple[ChannelFile, ...]
    """inputs, and outputs that this file gives; one file or none"""
    allowed: tuple[Allowed, ...]

    @property
    def files(self) -> tuple[ChannelFile, ...]:
        """Every file that a device needs: the model, its weights, and the self-test."""
        return (self.file, *self.data, *self.golden)


@dataclass(frozen=True, kw_only=True)
class Rollout:
    """The share of the devices that get a release."""

    percent: int
    salt: str


@dataclass(frozen=True, kw_only=True)
class DownloadConditions:
    """State of a device in which it downloads."""

    wifi: bool
    charging: bool
    free_bytes: int


@dataclass(frozen=True, kw_only=True)
class ModelRelease:
    """A version of a model."""

    version: str
    number: int
    """grows with the version, as in signatures of models"""
    contract: str
    """hash of the API that was generated for it"""
    min_app: str
    """oldest version of the app's package that may take it; empty for any"""
    rollout: Rollout
    conditions: DownloadConditions
    notes: str
    files: tuple[ModelFile, ...]


@dataclass(frozen=True, kw_only=True)
class ChannelModel:
    """A model, and its releases: the newest first, then those for devices that may not take it."""

    name: str
    releases: tuple[ModelRelease, ...]


@dataclass(frozen=True, kw_only=True)
class ModelReleases:
    """`releases.json` of a model: its releases, in one text that metadata names by its sha256."""

    schema_version: int
    package: str
    channel: str
    model: str
    releases: tuple[ModelRelease, ...]


@dataclass(frozen=True, kw_only=True)
class Document:
    """Everything a device needs to know to update its models: targets, and the releases that they name."""

    package: str
    channel: str
    number: int
    """version of the targets: it grows with every document of the channel, and is used once"""
    restores: int
    """number of the document that a rollback repeats; 0 if it is none"""
    published: str
    expires: str
    models: tuple[ChannelModel, ...]


def parsed_releases(content: bytes, where: str) -> ModelReleases:
    """The releases of a model in `content`; `where` names it in errors.

    Raises GateError for a text that is too large, not canonical, of another schema, or whose values cannot be.
    """
    if len(content) > MAX_RELEASES_BYTES:
        raise GateError(f"{where} has more than {MAX_RELEASES_BYTES >> 10} KiB", hint=AGAIN)
    try:
        found = parsing.json_of(content.decode("utf-8"), object_pairs_hook=_distinct, parse_constant=_refuse_constant)
        schema = found.get("schema-version") if isinstance(found, dict) else None
        if isinstance(schema, int) and schema > SCHEMA_VERSION:
            raise GateError(
                f"{where} has schema version {schema}, and this mobpack reads {SCHEMA_VERSION}",
                hint="use the mobpack that published it, or a newer one",
            )
        value: ModelReleases = _read(ModelReleases, found, "")
        _refuse_impossible(value)
        if payload(plain(value)) != content:
            raise ValueError("it is not in canonical form")
    except BROKEN as error:
        raise GateError(f"{where} is not a list of releases: {error}", hint=AGAIN) from error
    return value


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key is there twice")
    return found


def _refuse_constant(text: str) -> None:
    raise ValueError(f"{text} is not a number of JSON")


def _read(kind: Any, found: Any, where: str) -> Any:
    """`found` as a value of the type `kind`: a dataclass, a tuple of one type, str, int, float or bool."""
    if get_origin(kind) is tuple:
        if not isinstance(found, list):
            raise TypeError(f"{where} is not a list")
        return tuple(_read(get_args(kind)[0], each, f"{where}[{index}]") for index, each in enumerate(found))
    if kind in (str, int, bool):
        if type(found) is not kind:
            raise TypeError(f"{where} is not a {kind.__name__}")
        if kind is int and not 0 <= found <= MAX_INTEGER:
            raise ValueError(f"{where} is out of range")
        return found
    if kind is float:
        if type(found) is not float or not 0 <= found < math.inf:
            raise ValueError(f"{where} is not a finite number with a decimal point")
        return found
    if not isinstance(found, dict):
        raise TypeError(f"{where or 'it'} is not an object")
    types = get_type_hints(kind)
    names = {kebab_case(each.name): each.name for each in fields(kind)}
    if odd := sorted(found.keys() ^ names.keys()):
        raise ValueError(f"{where}.{odd[0]} is {'unknown' if odd[0] in found else 'missing'}".lstrip("."))
    return kind(**{name: _read(types[name], found[key], f"{where}.{key}".lstrip(".")) for key, name in names.items()})


def _refuse_impossible(found: ModelReleases) -> None:
    _all_match(NAME, [found.package, found.channel, found.model])
    if found.schema_version != SCHEMA_VERSION:
        raise ValueError("schema version is 0")
    versions = [each.version for each in found.releases]
    if len(set(versions)) < len(versions):
        raise ValueError(f"a version of {found.model} is there twice")
    for release in found.releases:
        _refuse_impossible_release(release)


def _refuse_impossible_release(release: ModelRelease) -> None:
    if release.rollout.percent > 100:
        raise ValueError("a rollout has more than 100 %")
    if any(len(each.golden) > 1 or bool(each.golden) != bool(each.allowed) for each in release.files):
        raise ValueError("a file has several self-tests, or one without tolerances")
    files = [file for each in release.files for file in each.files]
    deltas = [delta for file in files for delta in file.deltas]
    _all_match(NAME, [release.version, *([release.min_app] if release.min_app else []), *(each.name for each in files)])
    _all_match(SHA256, [release.contract, *(each.sha256 for each in files), *(each.sha256 for each in deltas)])
    _all_match(SHA256, [each.source for each in deltas])


def _all_match(pattern: re.Pattern[str], texts: Iterable[str]) -> None:
    for text in texts:
        if not pattern.fullmatch(text):
            raise ValueError(f"'{text[:40]}' is not what it should be")


def time_of(text: str) -> datetime:
    """Raises ValueError for another form than `2026-01-31T23:59:59Z`."""
    found = datetime.strptime(text, TIME).replace(tzinfo=UTC)
    if found.strftime(TIME) != text:
        raise ValueError(f"'{text[:40]}' is not what it should be")
    return found


def blobs(documents: Iterable[Document]) -> dict[str, int]:
    """sha256 -> size in bytes of every blob that the documents name, deltas included."""
    found: dict[str, int] = {}
    for document in documents:
        for model in document.models:
            found |= model_blobs(model)
    return found


def model_blobs(model: ChannelModel) -> dict[str, int]:
    files = [file for release in model.releases for each in release.files for file in each.files]
    deltas = {delta.sha256: delta.size_bytes for file in files for delta in file.deltas}
    return {**{each.sha256: each.size_bytes for each in files}, **deltas}


def is_in_rollout(rollout: Rollout, device: str) -> bool:
    """Whether a device takes part: the first 32 bits of sha256(salt + device), as a share of 2^32, are below the
    percentage. `device` is an identifier that the app makes once and keeps."""
    start = hashlib.sha256((rollout.salt + device).encode()).digest()[:4]
    return int.from_bytes(start) * 100 >> 32 < rollout.percent


def salt_of(names: Mapping[str, str]) -> str:
    """The salt of a release: the same for every percentage, so that a larger one only adds devices."""
    return hashlib.sha256(payload(dict(names))).hexdigest()[:16]
