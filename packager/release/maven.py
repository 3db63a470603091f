"""Lays out a Maven repository, on disk or on a server, from which apps get an Android library."""

import hashlib
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from packager.core.values import Package
from packager.files.atomic import atomic_file
from packager.render import render

ALGORITHMS = ("md5", "sha1", "sha256", "sha512")
PIECE_BYTES = 1 << 20


class Scope(StrEnum):
    """Visibility of a dependency to apps, as named in a POM."""

    COMPILE = "compile"
    """the library's public signatures use its types: apps compile against it"""
    RUNTIME = "runtime"
    """only the library's own code uses it: it is in the app, but not on its compile classpath"""


@dataclass(frozen=True, kw_only=True)
class Coordinates:
    """Coordinates of an artifact in a Maven repository."""

    group: str
    artifact: str
    version: str


@dataclass(frozen=True, kw_only=True)
class Dependency:
    """A library that apps get along with the package."""

    group: str
    artifact: str
    version: str
    scope: Scope
    is_aar: bool
    allowed: str = ""
    """versions that an app may bring instead, as a range of Maven's; empty for `version` or newer"""


@dataclass(frozen=True, kw_only=True)
class File:
    """A file of the repository, as module metadata lists it."""

    name: str
    size_bytes: int
    md5: str
    sha1: str
    sha256: str
    sha512: str


@dataclass(frozen=True, kw_only=True)
class Attribute:
    name: str
    value: str


@dataclass(frozen=True, kw_only=True)
class VariantView:
    """One use of the library: compile against it, run it, or read its sources."""

    name: str
    attributes: tuple[Attribute, ...]
    dependencies: tuple[Dependency, ...]
    file: File


@dataclass(frozen=True, kw_only=True)
class PomView:
    group: str
    artifact: str
    version: str
    name: str
    description: str
    license: str
    dependencies: tuple[Dependency, ...]


@dataclass(frozen=True, kw_only=True)
class ModuleView:
    group: str
    artifact: str
    version: str
    variants: tuple[VariantView, ...]


@dataclass(frozen=True, kw_only=True)
class MavenMetadataView:
    group: str
    artifact: str
    version: str
    is_release: bool


def dependency(notation: str, *, scope: Scope, is_aar: bool = False, allowed: str = "") -> Dependency:
    """Parses `group:artifact:version`, the form of pins.toml, to a dependency."""
    group, artifact, version = notation.split(":")
    return Dependency(group=group, artifact=artifact, version=version, scope=scope, is_aar=is_aar, allowed=allowed)


def write_repository(
    folder: Path,
    *,
    coordinates: Coordinates,
    package: Package,
    aar: Path,
    sources_jar: Path | None,
    dependencies: Sequence[Dependency],
) -> tuple[Path, ...]:
    """Writes the library below `folder`, a repository's root, and returns every file written, sorted.

    Files of other libraries and versions stay unchanged; maven-metadata.xml lists this version only. A library without
    generated sources has no `sources_jar`.
    """
    home = folder.joinpath(*coordinates.group.split("."), coordinates.artifact)
    stem = home / coordinates.version / f"{coordinates.artifact}-{coordinates.version}"
    needs = tuple(sorted(dependencies, key=lambda needed: (needed.group, needed.artifact)))
    written_aar = _copy(aar, Path(f"{stem}.aar"))
    written_sources = _copy(sources_jar, Path(f"{stem}-sources.jar")) if sources_jar else None
    pom = _pom_view(coordinates, package, needs)
    described = {path: _file(path) for path in (written_aar, written_sources) if path}
    sources = described[written_sources] if written_sources else None
    module = _module_view(coordinates, needs, aar=described[written_aar], sources_jar=sources)
    metadata = _metadata_view(coordinates)
    for path in (
        _write(Path(f"{stem}.pom"), render("android/maven/pom.xml.j2", pom)),
        _write(Path(f"{stem}.module"), render("android/maven/module.json.j2", module)),
        _write(home / "maven-metadata.xml", render("android/maven/maven-metadata.xml.j2", metadata)),
    ):
        described[path] = _file(path)
    return tuple(sorted([*described, *_write_checksums(described)]))


def _pom_view(coordinates: Coordinates, package: Package, dependencies: tuple[Dependency, ...]) -> PomView:
    return PomView(
        group=coordinates.group,
        artifact=coordinates.artifact,
        version=coordinates.version,
        name=package.name,
        description=package.description,
        license=package.license,
        dependencies=dependencies,
    )


def _module_view(
    coordinates: Coordinates, dependencies: tuple[Dependency, ...], *, aar: File, sources_jar: File | None
) -> ModuleView:
    """The metadata that Android's Gradle plugin publishes for `singleVariant("release") { withSourcesJar() }`.

    Names and attributes match those of libraries published by the plugin. None says "release build" or "Android": the
    plugin omits those attributes for a single variant, so that debug builds of an app match as well.
    """
    needed_to_compile = tuple(needed for needed in dependencies if needed.scope is Scope.COMPILE)
    sources = () if sources_jar is None else (_sources_variant(sources_jar),)
    return ModuleView(
        group=coordinates.group,
        artifact=coordinates.artifact,
        version=coordinates.version,
        variants=(
            VariantView(
                name="releaseVariantReleaseApiPublication",
                attributes=_library("java-api"),
                dependencies=needed_to_compile,
                file=aar,
            ),
            VariantView(
                name="releaseVariantReleaseRuntimePublication",
                attributes=_library("java-runtime"),
                dependencies=dependencies,
                file=aar,
            ),
            *sources,
        ),
    )


def _sources_variant(jar: File) -> VariantView:
    return VariantView(name="releaseVariantReleaseSourcePublication", attributes=_sources(), dependencies=(), file=jar)


def _library(usage: str) -> tuple[Attribute, ...]:
    return (
        Attribute(name="org.gradle.category", value="library"),
        Attribute(name="org.gradle.dependency.bundling", value="external"),
        Attribute(name="org.gradle.libraryelements", value="aar"),
        Attribute(name="org.gradle.usage", value=usage),
    )


def _sources() -> tuple[Attribute, ...]:
    return (
        Attribute(name="org.gradle.category", value="documentation"),
        Attribute(name="org.gradle.dependency.bundling", value="external"),
        Attribute(name="org.gradle.docstype", value="sources"),
        Attribute(name="org.gradle.usage", value="java-runtime"),
    )


def _metadata_view(coordinates: Coordinates) -> MavenMetadataView:
    """The list of versions, for tools that resolve `1.+` or the latest version.

    It has no <lastUpdated>: the element is optional, no version resolution reads it, and a timestamp would make the
    build irreproducible. A repository server writes its own list with its own date.
    """
    return MavenMetadataView(
        group=coordinates.group,
        artifact=coordinates.artifact,
        version=coordinates.version,
        is_release=not coordinates.version.endswith("-SNAPSHOT"),
    )


def _copy(source: Path, target: Path) -> Path:
    with source.open("rb") as content, atomic_file(target) as file:
        shutil.copyfileobj(content, file, PIECE_BYTES)
    return target


def _write(target: Path, text: str) -> Path:
    with atomic_file(target) as file:
        file.write(text.encode())
    return target


def _file(path: Path) -> File:
    md5, sha1, sha256, sha512 = _digests(path)
    return File(name=path.name, size_bytes=path.stat().st_size, md5=md5, sha1=sha1, sha256=sha256, sha512=sha512)


def _write_checksums(described: Mapping[Path, File]) -> list[Path]:
    """Writes one file per file and algorithm, containing the bare hex digest, as Gradle does."""
    return [
        _write(Path(f"{path}.{algorithm}"), getattr(file, algorithm))
        for path, file in described.items()
        for algorithm in ALGORITHMS
    ]


def _digests(path: Path) -> list[str]:
    """Hex digests in the order of ALGORITHMS, from one reading of the file."""
    # md5 and sha1 are checksums here, not security; the flag keeps them available in FIPS mode
    running = [hashlib.new(algorithm, usedforsecurity=False) for algorithm in ALGORITHMS]
    with path.open("rb") as file:
        while piece := file.read(PIECE_BYTES):
            for digest in running:
                digest.update(piece)
    return [digest.hexdigest() for digest in running]
