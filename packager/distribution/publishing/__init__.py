"""Publishes a release to registries: requests are planned, then sent where their content is missing."""

from collections.abc import Mapping, Sequence
from dataclasses import fields

from packager.core.errors import ConfigError, nearest
from packager.core.names import kebab_case
from packager.distribution.publishing.folders import FILE
from packager.distribution.publishing.maven_central import MavenCentral
from packager.distribution.publishing.maven_repository import MavenRepository
from packager.distribution.publishing.npm import Npm
from packager.distribution.publishing.pypi import PyPI
from packager.distribution.publishing.registry import PublishingSession, Registry, RegistryOutcome, RegistryRequest
from packager.distribution.publishing.sending import document, publish, remarks
from packager.distribution.publishing.swift_registry import SwiftRegistry
from packager.distribution.publishing.swift_tags import SwiftTags

REGISTRIES: Mapping[str, type[Registry]] = {
    each.NAME: each
    for each in (
        MavenCentral,
        MavenRepository,
        Npm,
        PyPI,
        SwiftRegistry,
        SwiftTags,
    )
}
WITHOUT_TARGET = {"pub": "mobpack does not publish Flutter packages: `dart pub publish` in their folder does"}
"""Registries that mobpack publishes nothing to."""


def registries(named: Sequence[str], settings: Sequence[str]) -> tuple[Registry, ...]:
    """Registries by `NAME`, `NAME=ADDRESS`, or the address or the folder (`file:`) of a Maven repository, with settings
    `NAME.KEY=VALUE`.

    Raises ConfigError for an unknown name, key or value, and for a name without an address that needs one.
    """
    given = [_parsed(text) for text in settings]
    known = {name for name, _ in map(_split, named)}
    for name, key, _ in given:
        if name not in known:
            raise ConfigError(f"--set {name}.{key}: there is no --to {name}", hint=nearest(name, known))
    return tuple(
        _made(name, address, {key: value for owner, key, value in given if owner == name})
        for name, address in map(_split, named)
    )


def _split(text: str) -> tuple[str, str]:
    if text.startswith(("https://", "http://", FILE)):
        return MavenRepository.NAME, text
    name, _, address = text.partition("=")
    if name in WITHOUT_TARGET:
        raise ConfigError(f"--to {name}: there is nothing for {name}: {WITHOUT_TARGET[name]}", hint="leave it out")
    if name not in REGISTRIES:
        raise ConfigError(f"--to {text}: unknown registry '{name}'", hint=nearest(name, REGISTRIES))
    return name, address


def _parsed(text: str) -> tuple[str, str, str]:
    place, separator, value = text.partition("=")
    name, dot, key = place.partition(".")
    if not separator or not dot:
        raise ConfigError(f"--set {text}: expected REGISTRY.KEY=VALUE", hint="for example: --set npm.access=public")
    return name, key, value


def _made(name: str, address: str, settings: Mapping[str, str]) -> Registry:
    kind = REGISTRIES[name]
    known = {kebab_case(each.name): each.name for each in fields(kind) if each.name != "address"}  # type: ignore[arg-type]
    for key in settings:
        if key not in known:
            hint = nearest(key, known) if known else f"{name} has no settings"
            raise ConfigError(f"--set {name}.{key}: unknown key", hint=hint)
    values = {known[key]: value for key, value in settings.items()}
    if address:
        values["address"] = address
    return kind(**values)


__all__ = [
    "REGISTRIES",
    "PublishingSession",
    "Registry",
    "RegistryOutcome",
    "RegistryRequest",
    "document",
    "publish",
    "registries",
    "remarks",
]
