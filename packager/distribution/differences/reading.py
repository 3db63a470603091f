"""Reads a release: a folder of `mobpack build`, one of its packages, or a library in a Maven repository."""

from collections.abc import Iterator
from pathlib import Path

from packager.core import user_files
from packager.core.errors import ConfigError, ToolError
from packager.distribution.differences import manifests, packages
from packager.distribution.differences.archives import MAX_TEXT_BYTES, contents
from packager.distribution.differences.manifests import Artifact, Manifest
from packager.distribution.differences.values import Package, Release
from packager.distribution.release import MANIFEST
from packager.targets import MODELS_IN

PLACES = (
    "a dist folder of `mobpack build`, an .aar, an npm .tgz, a zipped Swift or pub package, or a folder of a Maven "
    "repository"
)


def read(place: Path) -> Release:
    """Raises ConfigError for a path that is not a release, ToolError for a damaged one."""
    if not place.exists():
        raise ConfigError(f"{place}: no such file or folder", hint=f"name {PLACES}")
    if place.is_dir():
        poms = [] if (place / MANIFEST).exists() else sorted(place.rglob("*.pom"))
        return _of_maven(place, poms) if poms else _of_folder(place)
    package = _alone(place)
    return Release(place=str(place), version=package.version, packages={package.target: package}, manifest=None)


def _of_folder(place: Path) -> Release:
    manifest = manifests.read(place)
    found = {each.target: each for each in _packages(place, manifest)}
    return Release(place=str(place), version=manifest.version, packages=found, manifest=manifest)


def _packages(place: Path, manifest: Manifest) -> Iterator[Package]:
    for artifact in manifest.artifacts:
        path = _inside(place, artifact)
        if artifact.kind == "aar":
            yield packages.android(contents(path, sha256=artifact.sha256), _pom(place, manifest))
        elif artifact.kind == "swift-package":
            yield packages.ios(contents(path, sha256=artifact.sha256))
        elif artifact.kind in ("npm-package", "web-package", "node-package"):
            yield packages.npm(contents(path, sha256=artifact.sha256))
        elif artifact.kind == "pub-package":
            yield packages.pub(contents(path, sha256=artifact.sha256))
        elif artifact.kind in MODELS_IN:
            yield packages.described(contents(path, sha256=artifact.sha256), artifact.kind)


def _inside(place: Path, artifact: Artifact) -> Path:
    path = place / artifact.path
    if not user_files.resolved(path).is_relative_to(user_files.resolved(place)):
        raise ConfigError(
            f"{place / MANIFEST} names a file outside of the release: {artifact.path}", hint="build the packages again"
        )
    return path


def _pom(place: Path, manifest: Manifest) -> str:
    """The POM of the library: that of a runtime beside it has another version or name."""
    ends = f"/{manifest.name}-{manifest.version}.pom"
    found = next((each for each in manifest.artifacts if each.path.endswith(ends)), None)
    return _text(_inside(place, found)) if found else ""


def _of_maven(place: Path, poms: list[Path]) -> Release:
    """A folder with one library in one version."""
    libraries = [each for each in poms if each.with_suffix(".aar").exists()]
    if not libraries:
        return _of_folder(place)
    _refuse_releases_below(place, libraries)
    libraries = [each for each in libraries if each.with_name(f"{each.stem}-sources.jar").exists()] or libraries
    if len(libraries) > 1:
        known = ", ".join(each.parent.relative_to(place).as_posix() for each in libraries[:5])
        raise ConfigError(
            f"{place} has {len(libraries)} libraries, and one is compared at a time",
            hint=f"name the folder of one version: {known}",
        )
    (pom,) = libraries
    package = packages.android(contents(pom.with_suffix(".aar")), _text(pom))
    return Release(place=str(place), version=package.version, packages={package.target: package}, manifest=None)


def _refuse_releases_below(place: Path, libraries: list[Path]) -> None:
    """A folder of a build has more to compare than its Maven repository."""
    inside = (parent for pom in libraries for parent in pom.relative_to(place).parents)
    found = next((each for each in inside if (place / each / MANIFEST).exists()), None)
    if found is not None:
        raise ConfigError(f"{place} is not a release, but {place / found} is", hint=f"name {place / found}")


def _alone(path: Path) -> Package:
    if path.suffix == ".aar":
        pom = path.with_suffix(".pom")
        return packages.android(contents(path), _text(pom) if pom.exists() else "")
    if path.name.endswith((".tgz", ".tar.gz")):
        return packages.npm(contents(path))
    if path.suffix == ".zip":
        archive = contents(path)
        return packages.pub(archive) if packages.is_pub(archive) else packages.ios(archive)
    raise ConfigError(f"{path} is not a package that can be compared", hint=f"name {PLACES}")


def _text(path: Path) -> str:
    try:
        return user_files.read_text(path, limit_bytes=MAX_TEXT_BYTES)
    except (OSError, ValueError) as error:
        raise ToolError(f"cannot read {path}: {error}", hint="build the packages again") from error
