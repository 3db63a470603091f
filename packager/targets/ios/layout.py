"""A Swift package in a release: the archive and metadata that registries take, and the folder that apps add by path."""

from collections.abc import Sequence
from pathlib import Path

from packager.core.characters import to_json
from packager.core.values import Artifact, Package
from packager.files.zips import unpack
from packager.targets.layouts import copied, described
from packager.targets.target import Shipped

FOLDER = "swift"


def lay_out(package: Package, artifacts: Sequence[Artifact], dist: Path) -> list[Shipped]:
    """The archive of a Swift package, its registry metadata, and its files in a folder that apps add by path; ONNX
    Runtime's package beside it."""
    home = dist / FOLDER
    shipped = copied(artifacts, dist, FOLDER)
    archive, *runtimes = artifacts
    unpack(archive.path, home / package.name)
    for runtime in runtimes:
        unpack(runtime.path, home / runtime.path.stem)
    release = home / f"{archive.path.stem}.json"
    release.write_text(_registry_entry(package, archive), encoding="utf-8", newline="\n")
    return [*shipped, described(release, dist, target=archive.target, kind="swift-registry")]


def _registry_entry(package: Package, archive: Artifact) -> str:
    """Registry metadata of a release, except for the identifier, which the registry assigns (SE-0292, "Fetch
    information about a package release"). The checksum is that of `swift package compute-checksum`."""
    document = {
        "version": package.version,
        "resources": [{"name": "source-archive", "type": "application/zip", "checksum": archive.sha256}],
        "metadata": {"description": package.description},
    }
    return to_json(document, indent=2) + "\n"
