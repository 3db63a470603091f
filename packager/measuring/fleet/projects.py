"""The projects of a fleet: those that fleet.toml names, and those that it makes of models and variants."""

import glob
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from packager.config import SOURCE, Config
from packager.config.loading import from_document
from packager.core import names, parsing, toml
from packager.core.errors import ConfigError, nearest

FLEET, NEEDS = "fleet", "needs"
KEYS = ("projects", "models", "variants")
MISSING = "write a fleet.toml, or name projects: mobpack fleet a/mobpack.toml b/mobpack.toml"
UNITS = {"": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
AMOUNT = re.compile(r"(\d{1,6}(?:\.\d{1,3})?) ?([kKMG]i?B)")
MEMORY = "memory"
"""The resource that every worker has, in bytes."""


@dataclass(frozen=True, kw_only=True)
class FleetProject:
    """One package to build, as it travels to workers."""

    name: str
    """name of the package, and of its folder in the fleet's output"""
    file: Path
    """the file that describes it: mobpack.toml, or the fleet's"""
    is_whole: bool
    """whether `file` is a mobpack.toml of its own"""
    document: str
    """what mobpack.toml would contain, as JSON"""
    settings: tuple[str, ...] = ()
    """of --set"""
    needs: tuple[tuple[str, float], ...] = ()
    """resource -> how much of it a worker must have"""

    def config(self, targets: Sequence[str] = ()) -> Config:
        """Raises ConfigError, as `mobpack build` does."""
        return from_document(parsing.json_of(self.document), self.file.parent, targets=targets, settings=self.settings)

    def portable(self) -> str:
        """The document with paths of models relative to the folder of `file`: the same on every machine. Empty for a
        project with a file of its own."""
        if self.is_whole:
            return ""
        document = parsing.json_of(self.document)
        for table in document["model"].values():
            table["path"] = Path(os.path.relpath(table["path"], self.file.parent)).as_posix()
        return json.dumps({"name": self.name, **document}, sort_keys=True)


def projects_of(paths: Sequence[Path], settings: Sequence[str] = ()) -> tuple[FleetProject, ...]:
    """The projects in `paths`: fleets, and project files. Raises ConfigError for a wrong key, a file that is missing,
    or two projects with one name, which would write to one folder."""
    found = [each for path in paths for each in _read(path.absolute(), tuple(settings))]
    seen: dict[str, FleetProject] = {}
    for each in found:
        other = seen.setdefault(each.name.casefold(), each)
        if other is not each:
            raise ConfigError(
                f"two projects would write to the folder '{each.name}': {other.file} and {each.file}",
                hint="give each a name of its own in [package]",
            )
    if not found:
        raise ConfigError("no project to build", hint=f"name projects or models in [{FLEET}]")
    return tuple(found)


def _read(path: Path, settings: tuple[str, ...]) -> Iterator[FleetProject]:
    if path.suffix == ".onnx":
        raise ConfigError(
            f"{path} is a model, not a project", hint=f'name it in a fleet.toml: [{FLEET}] models = ["{path.name}"]'
        )
    document = toml.read(path, missing=MISSING)
    if FLEET not in document:
        yield _whole(path, document, settings, {})
        return
    table, needs = document.pop(FLEET), document.pop(NEEDS, {})
    _check(path, table, needs)
    named = _files(path, table, "projects")
    models = _files(path, table, "models")
    if not named and not models:
        raise ConfigError(f"{path}: [{FLEET}] names neither projects nor models", hint='projects = ["*/mobpack.toml"]')
    if document and not models:
        key = next(iter(document))
        raise ConfigError(
            f"{path}: [{key}] has no effect without models",
            hint=f"projects have their own tables; for files of models, add models = [...] to [{FLEET}]",
        )
    _refuse_unknown_models(path, document, models)
    _refuse_unknown_variants(path, document, table.get("variants", ()))
    for each in named:
        yield _whole(each, toml.read(each), settings, needs)
    for model in models:
        yield from _matrix(path, model, table.get("variants", ()), document, settings, needs)


def _whole(path: Path, document: dict[str, Any], settings: tuple[str, ...], needs: Mapping[str, Any]) -> FleetProject:
    package = document.get("package")
    name = package.get("name") if isinstance(package, dict) else None
    if not isinstance(name, str):
        raise ConfigError(f"{path}: package: 'name' is missing", hint="add it to mobpack.toml")
    return FleetProject(
        name=_as_folder(name, path),
        file=path,
        is_whole=True,
        document=json.dumps(document, default=str),
        settings=settings,
        needs=_needs(name, needs),
    )


def _matrix(
    path: Path,
    model: Path,
    variants: Sequence[str],
    common: dict[str, Any],
    settings: tuple[str, ...],
    needs: Mapping[str, Any],
) -> Iterator[FleetProject]:
    """A project for each of `variants` of one model; without any, one, whose targets name their variants."""
    own = names.model_name(model)
    for variant in variants or ("",):
        document = deepcopy(common)
        tables = document.get("model")
        table = tables.get(own, {}) if isinstance(tables, dict) else {}
        document["model"] = {own: {**table, "path": str(model)}}
        plain = names.package_name(model)
        name = plain if variant in ("", SOURCE) else f"{plain}-{variant.replace('_', '-').lower()}"
        document.setdefault("package", {})["name"] = name
        if variant:
            targets = document.get("target")
            for target in targets.values() if isinstance(targets, dict) else ():
                if isinstance(target, dict):
                    target["variant"] = variant
        yield FleetProject(
            name=_as_folder(name, path),
            file=path,
            is_whole=False,
            document=json.dumps(document, default=str),
            settings=settings,
            needs=_needs(name, needs),
        )


def _refuse_unknown_models(path: Path, document: Mapping[str, Any], models: Sequence[Path]) -> None:
    tables = document.get("model", {})
    known = [names.model_name(each) for each in models]
    for name in tables if isinstance(tables, dict) else ():
        if name not in known:
            raise ConfigError(f"{path}: model.{name}: no such model among fleet.models", hint=nearest(name, known))


def _refuse_unknown_variants(path: Path, document: Mapping[str, Any], variants: Sequence[str]) -> None:
    tables = document.get("variant", {})
    known = [SOURCE, *(tables if isinstance(tables, dict) else ())]
    for name in variants:
        if name not in known:
            raise ConfigError(
                f"{path}: fleet.variants: '{name}' is not defined",
                hint=f"add [variant.{name}], or: {nearest(name, known)}",
            )


def _as_folder(name: str, path: Path) -> str:
    if not names.PACKAGE_NAME.fullmatch(name):
        raise ConfigError(
            f"{path}: package.name: '{name}' is not allowed",
            hint="use lower-case letters, digits and single hyphens, starting with a letter",
        )
    return name


def _check(path: Path, table: Any, needs: Any) -> None:
    if not isinstance(table, dict) or not isinstance(needs, dict):
        raise ConfigError(f"{path}: [{FLEET}] and [{NEEDS}.NAME] are tables", hint="docs/fleet.md shows them")
    for key, value in table.items():
        if key not in KEYS:
            raise ConfigError(f"{path}: fleet: unknown key '{key}'", hint=nearest(key, KEYS))
        if not isinstance(value, list) or not all(isinstance(each, str) and each for each in value):
            raise ConfigError(f"{path}: fleet.{key} must be a list of texts", hint=f'for example: {key} = ["..."]')
    for pattern, wanted in needs.items():
        if not isinstance(wanted, dict):
            raise ConfigError(f"{path}: needs.{pattern} must be a table", hint='memory = "8GB", or gpu = 1')
        for resource, value in wanted.items():
            _amount(f"{path}: needs.{pattern}.{resource}", resource, value)


def _files(path: Path, table: Mapping[str, Any], key: str) -> list[Path]:
    """The files that the patterns of a key name, sorted. Raises ConfigError for a pattern that names none."""
    found: dict[Path, None] = {}
    for pattern in table.get(key, ()):
        # Not Path.glob: patterns may be absolute.
        matches = sorted(glob.glob(pattern, root_dir=path.parent, recursive=True))  # noqa: PTH207
        if not matches:
            raise ConfigError(f"{path}: fleet.{key}: no such file: {pattern}", hint="paths are relative to that file")
        found |= {Path(path.parent, each).absolute(): None for each in matches}
    return list(found)


def _needs(name: str, table: Mapping[str, Any]) -> tuple[tuple[str, float], ...]:
    """Resources that the project `name` needs: the largest amount of all patterns that match it."""
    found: dict[str, float] = {}
    for pattern, wanted in table.items():
        if fnmatch(name, pattern):
            for resource, value in wanted.items():
                found[resource] = max(found.get(resource, 0), _amount("", resource, value))
    return tuple(sorted(found.items()))


def _amount(where: str, resource: str, value: object) -> float:
    """A number of a resource, or bytes of memory: `8GB`."""
    if resource == MEMORY:
        return parse_size(where, value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e9:
        raise ConfigError(f"{where}: expected a number, not {value!r}", hint="for example: gpu = 1")
    return float(value)


def parse_size(where: str, value: object) -> float:
    """`8GB` in bytes. Raises ConfigError."""
    match = AMOUNT.fullmatch(value) if isinstance(value, str) else None
    if not match or match[2] not in UNITS:
        raise ConfigError(f"{where}: expected a size, not {value!r}", hint='for example: "8GB"')
    return float(match[1]) * UNITS[match[2]]
