"""Paths of artifacts in a release, and the files beside them, as targets lay them out."""

import shutil
from collections.abc import Sequence
from pathlib import Path

from packager.core.values import Artifact
from packager.targets.target import Printed, Shipped, artifact

SBOM_SUFFIX = ".cdx.json"
"""end of a CycloneDX file's name, as CycloneDX recommends"""
SPDX_SUFFIX = ".spdx3.json"
"""the same of SPDX 3"""


def copied(artifacts: Sequence[Artifact], dist: Path, folder: str) -> list[Shipped]:
    """Copies artifacts into `folder` of the release folder `dist`."""
    home = dist / folder
    home.mkdir(parents=True, exist_ok=True)
    return [_copied(artifact, home, dist) for artifact in artifacts]


def _copied(artifact: Artifact, home: Path, dist: Path) -> Shipped:
    path = home / artifact.path.name
    shutil.copyfile(artifact.path, path)
    return Shipped(artifact=artifact, path=path.relative_to(dist).as_posix())


def described(path: Path, dist: Path, *, target: str, kind: str) -> Shipped:
    """Describes a file that is already in `dist`."""
    found = artifact(path, target=target, kind=kind)
    return Shipped(artifact=found, path=path.relative_to(dist).as_posix())


def beside(target: Printed, shipped: Sequence[Shipped], sbom: str, dist: Path, *, suffix: str = SBOM_SUFFIX) -> Shipped:
    """Writes the bill of materials `sbom` beside the package of `target`: `android/vision-1.0.0.cdx.json`."""
    package = next(each for each in shipped if each.artifact.kind in target.MODELS_IN)
    path = dist / Path(package.path).with_suffix(suffix)
    path.write_text(sbom, encoding="utf-8", newline="\n")
    return described(path, dist, target=target.NAME, kind="sbom")
