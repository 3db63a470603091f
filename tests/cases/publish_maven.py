"""A release for Maven repositories, and the files that a repository has of it."""

from pathlib import Path

from packager.distribution.publishing import RegistryOutcome, publish, registries
from tests.cases.registries import Server, Waits

HOME = "/com/example/vision"

LIST = f"{HOME}/maven-metadata.xml"


def published(
    dist: Path, server: Server, waits: Waits | None = None, *, is_dry: bool = False
) -> tuple[RegistryOutcome, ...]:
    known = registries([server.address], [])
    return publish(dist, known, (waits or Waits()).session, is_dry=is_dry)


def expected(dist: Path) -> dict[str, bytes]:
    """The repository that a build lays out, which an empty server must get."""
    root = dist / "maven"
    return {f"/{path.relative_to(root).as_posix()}": path.read_bytes() for path in root.rglob("*") if path.is_file()}
