"""Libraries of a release's Maven repository: their files, and what their POMs say."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from xml.etree import ElementTree

from packager.core.errors import ConfigError
from packager.distribution.publishing.release import FileToPublish, ReleaseToPublish
from packager.targets.maven import ALGORITHMS, METADATA, Coordinates

FOLDER = "maven/"
POM = "{http://maven.apache.org/POM/4.0.0}"
LAST = (".module", ".pom")
"""Files by which clients find a library: published after those that they name."""
MEDIA_TYPES = {".pom": "application/xml", ".xml": "application/xml", ".module": "application/json"}


@dataclass(frozen=True, kw_only=True)
class Library:
    """A library, with its files in the order of publication."""

    coordinates: Coordinates
    files: tuple[FileToPublish, ...]

    @property
    def home(self) -> str:
        """The folder of all versions in a repository: `com/example/vision`."""
        return "/".join([*self.coordinates.group.split("."), self.coordinates.artifact])

    @property
    def folder(self) -> str:
        """The folder of this version."""
        return f"{self.home}/{self.coordinates.version}"

    @property
    def stem(self) -> str:
        return f"{self.coordinates.artifact}-{self.coordinates.version}"


def libraries(release: ReleaseToPublish) -> tuple[Library, ...]:
    """Libraries that others depend on first, the release's own last. Raises ConfigError if there are none, or of a
    snapshot."""
    found: dict[str, list[FileToPublish]] = {}
    for file in release.of_kind("maven"):
        folder, _, name = file.name.removeprefix(FOLDER).rpartition("/")
        if name != METADATA:
            found.setdefault(folder, []).append(file)
    if not found:
        raise ConfigError(
            "the release has no library for Maven",
            hint="build one with `mobpack build --target android` or `--target jvm`",
        )
    if release.version.endswith("-SNAPSHOT"):
        raise ConfigError(
            f"version {release.version} is a snapshot: repositories give those names with times in them",
            hint="set version in [package] to one without -SNAPSHOT",
        )
    made = [_library(folder, files) for folder, files in sorted(found.items())]
    return tuple(sorted(made, key=lambda each: (is_own(each, release), each.coordinates.artifact == release.package)))


def is_own(library: Library, release: ReleaseToPublish) -> bool:
    """Whether a library is the release's, `vision` or `vision-jvm`, and not a runtime that it depends on."""
    return library.coordinates.artifact.startswith(release.package)


def pom_fields(library: Library) -> Mapping[str, str]:
    """Keys of `[package]` -> what the POM says of each; empty if it says nothing. Raises ConfigError."""
    [pom] = [file for file in library.files if file.name.endswith(".pom")]
    text = pom.path.read_text(encoding="utf-8")
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise ConfigError(
            f"{pom.path}: the POM has entities, which mobpack never writes", hint="build the packages again"
        )
    root = ElementTree.fromstring(text)  # entities are refused above  # noqa: S314
    places: Mapping[str, Sequence[str]] = {
        "license": ("licenses", "license", "name"),
        "description": ("description",),
        "url": ("url",),
        "scm": ("scm", "url"),
        "developers": ("developers", "developer", "name"),
    }
    return {key: root.findtext("/".join(POM + part for part in place)) or "" for key, place in places.items()}


def checksummed(name: str) -> tuple[tuple[str, str], ...]:
    """Names of a file's checksums, each with its algorithm."""
    return tuple((f"{name}.{algorithm}", algorithm) for algorithm in ALGORITHMS)


def media_type(name: str) -> str:
    return MEDIA_TYPES.get(f".{name.rpartition('.')[2]}", "application/octet-stream")


def _library(folder: str, files: Sequence[FileToPublish]) -> Library:
    *group, artifact, version = folder.split("/")
    ordered = sorted(files, key=lambda each: (LAST.index(_suffix(each)) if _suffix(each) in LAST else -1, each.name))
    coordinates = Coordinates(group=".".join(group), artifact=artifact, version=version)
    return Library(coordinates=coordinates, files=tuple(ordered))


def _suffix(file: FileToPublish) -> str:
    return f".{file.name.rpartition('.')[2]}"
