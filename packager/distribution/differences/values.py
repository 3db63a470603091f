"""Values of a comparison of two releases: what a release has, and what has changed."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from packager.description import PackageApi
from packager.distribution.differences.manifests import Manifest


class Level(StrEnum):
    """How much a change asks of apps, by semantic versioning."""

    MAJOR = "major"
    """apps must change, or get something else under the same name"""
    MINOR = "minor"
    """something new, or other behaviour behind an equal interface"""
    PATCH = "patch"
    """other numbers or files behind an equal interface"""
    NONE = "none"
    """nothing has changed"""


ORDER = tuple(Level)
"""from the heaviest to the lightest"""


def heaviest(*levels: Level) -> Level:
    return min(levels, key=ORDER.index, default=Level.NONE)


@dataclass(frozen=True, kw_only=True)
class Change:
    """One difference between two releases."""

    level: Level
    where: str
    """target or model, and the part of it"""
    change: str
    reason: str
    """why it has its level"""
    is_internal: bool = False
    """whether it concerns who releases, and no app"""


@dataclass(frozen=True, kw_only=True)
class ModelCard:
    """Facts about a model in a package's bill of materials."""

    sha256: str
    """of the model that was given to the build"""
    license: str
    embeds: bool
    """whether an output is an embedding"""


@dataclass(frozen=True, kw_only=True)
class Package:
    """Facts about a package of one target, read from its files."""

    target: str
    kind: str
    name: str
    """under which apps depend on it"""
    version: str
    namespace: str
    """Kotlin package, Swift module, library of a pub package, or the entries of an npm package"""
    license: str
    api: PackageApi
    oldest: Mapping[str, str] = field(default_factory=dict)
    """oldest systems and tools that it supports, by name: `Android API level` -> `24`"""
    processors: tuple[str, ...] = ()
    """processors of native libraries in it, and systems that it runs on; empty where it does not say"""
    depends_on: Mapping[str, str] = field(default_factory=dict)
    """packages that apps get along with it -> version"""
    legal: Mapping[str, str] = field(default_factory=dict)
    """licence files in it -> sha256"""
    models: Mapping[str, ModelCard] = field(default_factory=dict)
    """by name; empty without a bill of materials"""
    size_bytes: int = 0


@dataclass(frozen=True, kw_only=True)
class Release:
    """A release as read from disk."""

    place: str
    """path that the user gave"""
    version: str
    packages: Mapping[str, Package]
    """by target"""
    manifest: Manifest | None
    """None for a single package, which has none"""


@dataclass(frozen=True, kw_only=True)
class Bump:
    """Whether the version number says enough."""

    old: str
    new: str
    is_enough: bool
    needed: str
    """lowest version that is; empty if the numbers are not those of semantic versioning"""
    sentence: str


@dataclass(frozen=True, kw_only=True)
class Comparison:
    verdict: Level
    bump: Bump
    changes: tuple[Change, ...]
    """the heaviest first"""
    not_compared: tuple[str, ...]
    """what the releases do not say, a sentence each"""
