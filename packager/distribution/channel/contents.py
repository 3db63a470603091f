"""Model files of a release, as a channel delivers them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packager.core.errors import ConfigError
from packager.core.parsing import Json
from packager.distribution.channel.contracts import contract_hash
from packager.distribution.channel.document import Allowed, ChannelFile, ModelFile, Setting
from packager.distribution.release.contents import AGAIN, manifest_of, model_name, unpack
from packager.files.hashes import sha256_of


@dataclass(frozen=True, kw_only=True)
class ReleasedModel:
    """A model of a release."""

    name: str
    contract: str
    files: tuple[ModelFile, ...]


@dataclass(frozen=True, kw_only=True)
class ReleasedModels:
    """The models of a release, and where their files lie."""

    package: str
    version: str
    number: int
    models: tuple[ReleasedModel, ...]
    paths: Mapping[str, Path]
    """sha256 -> file"""
    lacks: tuple[str, ...] = ()
    """keys of `[package]` without which the code of these packages takes no models from a channel"""


@dataclass(frozen=True, kw_only=True)
class _Packed:
    name: str
    path: Path


def contents(dist: Path, scratch: Path) -> ReleasedModels:
    """Reads the release in `dist`, and unpacks its model files to the empty folder `scratch`.

    Raises ConfigError if it is no release, one of encrypted models, or one of a mobpack that did not record what
    channels need.
    """
    manifest = manifest_of(dist)
    packed: dict[str, _Packed] = {}
    for number, each in enumerate(each for each in manifest.files if each.has_models):
        folder = scratch / str(number)
        folder.mkdir()
        for name, content in unpack(dist / each.path, folder).items():
            inside = model_name(each.kind, str(name))
            if inside and isinstance(content, Path):
                packed.setdefault(sha256_of(content), _Packed(name=name.name, path=content))
    try:
        _refuse_encrypted(dist, manifest.document)
        models = tuple(_model(each, manifest.document, packed) for each in manifest.document["models"])
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ConfigError(
            f"{dist} does not record what a channel needs: {type(error).__name__} {error}",
            hint="build it again with this mobpack",
        ) from error
    used = {file.sha256 for model in models for each in model.files for file in each.files}
    return ReleasedModels(
        package=manifest.release.package,
        version=manifest.release.version,
        number=manifest.release.number,
        models=models,
        paths={sha256: packed[sha256].path for sha256 in used},
        lacks=tuple(key for key in ("trust", "channel") if not manifest.document["options"].get(key)),
    )


def _refuse_encrypted(dist: Path, document: Json) -> None:
    if document["options"].get("encryption"):
        raise ConfigError(
            f"the models of {dist} are encrypted: apps cannot yet decrypt models from a channel",
            hint="publish a release that was built without [package] encryption",
        )


def _model(model: Json, document: Json, packed: Mapping[str, _Packed]) -> ReleasedModel:
    name = str(model["name"])
    settings = document["options"].get("contract", {}).get(name, {})
    plans = [each for each in document["plans"] if each["model"] == name]
    files = [_file(plan, choice, document, packed) for plan in plans for choice in plan["choices"]]
    return ReleasedModel(name=name, contract=contract_hash(model, settings), files=tuple(files))


def _file(plan: Json, choice: Json, document: Json, packed: Mapping[str, _Packed]) -> ModelFile:
    target = str(plan["target"])
    compiled = {each["sha256"]: each for each in document["compiled"]}[choice["sha256"]]
    names: Sequence[str] = compiled["data-files"]
    digests: Sequence[str] = compiled["data-sha256"] if names else ()
    table = document["options"].get("target", {}).get(target, {})
    return ModelFile(
        target=target,
        inside=str(plan["inside"]),
        provider=str(choice["provider"]),
        chips=tuple(map(str, choice["chips"])),
        format=str(choice["format"]),
        runtime=str(document["runtimes"].get(target, "")),
        runtime_range=str(table.get("runtime-range", "")),
        settings=tuple(Setting(key=key, value=value) for key, value in compiled.get("settings", {}).items()),
        file=_packed_file(str(choice["sha256"]), packed),
        data=tuple(_packed_file(str(sha256), packed, str(name)) for name, sha256 in zip(names, digests, strict=True)),
        **_self_test(str(plan["model"]), str(choice["sha256"]), document, packed),
    )


def _self_test(model: str, sha256: str, document: Json, packed: Mapping[str, _Packed]) -> Mapping[str, tuple[Any, ...]]:
    """The samples that a file of a model is tried with, where the packages have some."""
    for each in document.get("golden", ()):
        if each["model"] != model or sha256 not in each["for"] or each["sha256"] not in packed:
            continue
        tolerances = each["allowed"][sha256].items()
        if allowed := tuple(Allowed(output=output, **tolerance) for output, tolerance in tolerances):
            return {"golden": (_packed_file(each["sha256"], packed),), "allowed": allowed}
    return {"golden": (), "allowed": ()}


def _packed_file(sha256: str, packed: Mapping[str, _Packed], name: str = "") -> ChannelFile:
    found = packed.get(sha256)
    if found is None:
        raise ConfigError(f"no package of the release has the model file {sha256[:16]}...", hint=AGAIN)
    return ChannelFile(name=name or found.name, sha256=sha256, size_bytes=found.path.stat().st_size, deltas=())
