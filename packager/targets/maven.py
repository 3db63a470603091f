"""Lays out a Maven repository, on disk or on a server, from which apps get a library."""

import hashlib
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from packager.core.errors import ConfigError
from packager.core.values import Package
from packager.files.atomic import atomic_file
from packager.files.hashes import sha256_of
from packager.render.templates import render

METADATA = "maven-metadata.xml"
VERSION = re.compile(r"<version>\s*([^<\s]+)\s*</version>")
ALGORITHMS = ("md5", "sha1", "sha256", "sha512")
PIECE_BYTES = 1 << 20
AAR = "aar"
"""packaging of Android's libraries"""


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
    packaging: str
    """`aar` or `jar`"""
    name: str
    description: str
    license: str
    url: str
    scm: str
    developers: tuple[str, ...]
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
    """the latest"""
    release: str
    """the latest that is not a snapshot; empty if there is none"""
    versions: tuple[str, ...]


def dependency(notation: str, *, scope: Scope, is_aar: bool = False, allowed: str = "") -> Dependency:
    """Parses `group:artifact:version`, the form of pins.toml, to a dependency."""
    group, artifact, version = notation.split(":")
    return Dependency(group=group, artifact=artifact, version=version, scope=scope, is_aar=is_aar, allowed=allowed)


def write_repository(
    folder: Path,
    *,
    coordinates: Coordinates,
    package: Package,
    library: Path,
    sources_jar: Path | None,
    javadoc_jar: Path | None = None,
    dependencies: Sequence[Dependency],
    sbom: str = "",
) -> tuple[Path, ...]:
    """Writes the library below `folder`, a repository's root, and returns every file written, sorted.

    Files of other libraries and versions stay unchanged, and maven-metadata.xml keeps the versions that it lists. A
    library without generated sources has no `sources_jar`. An .aar gets metadata of Gradle's. `sbom`, its bill of
    materials, gets the classifier that CycloneDX's plug-ins for Maven and Gradle give it.
    """
    home = folder.joinpath(*coordinates.group.split("."), coordinates.artifact)
    stem = home / coordinates.version / f"{coordinates.artifact}-{coordinates.version}"
    needs = tuple(sorted(dependencies, key=lambda needed: (needed.group, needed.artifact)))
    packaging = library.suffix.removeprefix(".")
    copied = _copy(library, Path(f"{stem}.{packaging}"))
    written_sources = _copy(sources_jar, Path(f"{stem}-sources.jar")) if sources_jar else None
    written_javadoc = _copy(javadoc_jar, Path(f"{stem}-javadoc.jar")) if javadoc_jar else None
    pom = _pom_view(coordinates, package, needs, packaging)
    described = {path: _file(path) for path in (copied, written_sources, written_javadoc) if path}
    metadata = _metadata_view(coordinates, versions_in(home / METADATA))
    texts = {
        Path(f"{stem}.pom"): render("android/maven/pom.xml.j2", pom),
        home / METADATA: render("android/maven/maven-metadata.xml.j2", metadata),
    }
    if packaging == AAR:
        sources = described[written_sources] if written_sources else None
        module = _module_view(coordinates, needs, aar=described[copied], sources_jar=sources)
        texts[Path(f"{stem}.module")] = render("android/maven/module.json.j2", module)
    for path, text in texts.items():
        described[path] = _file(_write(path, text))
    if sbom:
        path = _write(Path(f"{stem}-cyclonedx.json"), sbom)
        described[path] = _file(path)
    return tuple(sorted([*described, *_write_checksums(described)]))


def _pom_view(
    coordinates: Coordinates, package: Package, dependencies: tuple[Dependency, ...], packaging: str
) -> PomView:
    return PomView(
        group=coordinates.group,
        artifact=coordinates.artifact,
        version=coordinates.version,
        packaging=packaging,
        name=package.name,
        description=package.description,
        license=package.license,
        url=package.url,
        scm=package.scm,
        developers=package.developers,
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


def _metadata_view(coordinates: Coordinates, before: Sequence[str]) -> MavenMetadataView:
    """The list of versions, for tools that resolve `1.+` or the latest version: those `before`, then this one.

    It has no <lastUpdated>: the element is optional, no version resolution reads it, and a timestamp would make the
    build irreproducible. A repository server writes its own list with its own date.
    """
    versions = (*(each for each in before if each != coordinates.version), coordinates.version)
    released = [each for each in versions if not each.endswith("-SNAPSHOT")]
    return MavenMetadataView(
        group=coordinates.group,
        artifact=coordinates.artifact,
        version=coordinates.version,
        release=released[-1] if released else "",
        versions=versions,
    )


def versions_in(metadata: Path) -> tuple[str, ...]:
    """The versions that a maven-metadata.xml lists; none if there is no such file."""
    return versions_of(metadata.read_text(encoding="utf-8") if metadata.exists() else "")


def versions_of(text: str) -> tuple[str, ...]:
    """The versions that the text of a maven-metadata.xml lists."""
    return tuple(VERSION.findall(text.partition("<versions>")[2]))


def merged_metadata(text: str, coordinates: Coordinates) -> str:
    """A maven-metadata.xml with the versions of `text`, which may be empty, and the one of `coordinates`."""
    return render("android/maven/maven-metadata.xml.j2", _metadata_view(coordinates, versions_of(text)))


def add_to(repository: Path, release: Path) -> tuple[Path, ...]:
    """Copies every library of the Maven repository `release` to `repository`, and returns the files that were written.
    Versions that are there stay, and stay listed.

    Raises ConfigError for a version that is there with other bytes, before anything is written.
    """
    files = sorted(path for path in release.rglob("*") if path.is_file() and not path.name.startswith(METADATA))
    for source in files:
        _refuse_other_bytes(source, repository / source.relative_to(release))
    written = [_copy(source, repository / source.relative_to(release)) for source in files]
    for listed in sorted(release.rglob(METADATA)):
        written += _listed_in(listed.relative_to(release), release, repository)
    return tuple(written)


def _refuse_other_bytes(source: Path, target: Path) -> None:
    if target.exists() and sha256_of(target) != sha256_of(source):
        raise ConfigError(
            f"{target} is there with other content: a published version does not change",
            hint="raise version in [package], or delete that version from the repository",
        )


def _listed_in(name: Path, release: Path, repository: Path) -> list[Path]:
    """Adds the version of the library whose list is `name` to the one in `repository`."""
    *group, artifact = name.parent.parts
    version = versions_in(release / name)[-1]
    coordinates = Coordinates(group=".".join(group), artifact=artifact, version=version)
    view = _metadata_view(coordinates, versions_in(repository / name))
    path = _write(repository / name, render("android/maven/maven-metadata.xml.j2", view))
    return [path, *_write_checksums({path: _file(path)})]


def _copy(source: Path, target: Path) -> Path:
    with source.open("rb") as content, atomic_file(target) as file:
        shutil.copyfileobj(content, file, PIECE_BYTES)
    return target


def _write(target: Path, text: str) -> Path:
    with atomic_file(target) as file:
        file.write(text.encode())
    return target


def _file(path: Path) -> File:
    md5, sha1, sha256, sha512 = digests(path)
    return File(name=path.name, size_bytes=path.stat().st_size, md5=md5, sha1=sha1, sha256=sha256, sha512=sha512)


def _write_checksums(described: Mapping[Path, File]) -> list[Path]:
    """Writes one file per file and algorithm, containing the bare hex digest, as Gradle does."""
    return [
        _write(Path(f"{path}.{algorithm}"), getattr(file, algorithm))
        for path, file in described.items()
        for algorithm in ALGORITHMS
    ]


def digests(path: Path) -> list[str]:
    """Hex digests in the order of ALGORITHMS, from one reading of the file."""
    # md5 and sha1 are checksums here, not security; the flag keeps them available in FIPS mode
    running = [hashlib.new(algorithm, usedforsecurity=False) for algorithm in ALGORITHMS]
    with path.open("rb") as file:
        while piece := file.read(PIECE_BYTES):
            for digest in running:
                digest.update(piece)
    return [digest.hexdigest() for digest in running]
