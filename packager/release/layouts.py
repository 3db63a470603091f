"""Paths of each target's artifacts in a release."""

import shutil
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from packager.core.characters import to_json
from packager.core.values import Artifact, Package
from packager.files import host
from packager.files.zips import is_link
from packager.release import maven
from packager.release.manifest import Shipped
from packager.targets.android.view import AndroidView
from packager.targets.flutter.view import FlutterView
from packager.targets.ios.view import IosView
from packager.targets.react_native.view import ReactNativeView
from packager.targets.target import Printed, artifact
from packager.targets.web.view import WebView

PIECE_BYTES = 1 << 20
SBOM_SUFFIX = ".cdx.json"
"""end of a CycloneDX file's name, as CycloneDX recommends"""
SPDX_SUFFIX = ".spdx3.json"
"""the same of SPDX 3"""


def layout(target: Printed, view: Any, artifacts: Sequence[Artifact], dist: Path, *, sbom: str = "") -> list[Shipped]:
    """Copies the artifacts of `target` into the release folder `dist` and returns their paths there. `sbom` is the bill
    of materials that a Maven repository publishes with a library."""
    if isinstance(view, ReactNativeView):
        return _npm(artifacts, dist)
    home = dist / target.NAME
    home.mkdir(parents=True, exist_ok=True)
    if isinstance(view, WebView):
        return _npm(artifacts, dist)
    if isinstance(view, FlutterView):
        return _pub(view, artifacts, dist)
    if isinstance(view, IosView):
        return _swift(view, artifacts, dist)
    shipped = [_copied(artifact, home, dist) for artifact in artifacts]
    if isinstance(view, AndroidView):
        shipped += _maven(view, artifacts, dist, sbom)
    return shipped


def _npm(artifacts: Sequence[Artifact], dist: Path) -> list[Shipped]:
    """The packages as tarballs for `npm install`."""
    home = dist / "npm"
    home.mkdir(exist_ok=True)
    return [_copied(artifact, home, dist) for artifact in artifacts]


def _pub(view: FlutterView, artifacts: Sequence[Artifact], dist: Path) -> list[Shipped]:
    """The archive of a pub package, and its files in a folder that apps add by path."""
    home = dist / "flutter"
    shipped = [_copied(artifact, home, dist) for artifact in artifacts]
    unpack(artifacts[0].path, home / view.names.pub_name)
    return shipped


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


def _copied(artifact: Artifact, home: Path, dist: Path) -> Shipped:
    path = home / artifact.path.name
    shutil.copyfile(artifact.path, path)
    return Shipped(artifact=artifact, path=path.relative_to(dist).as_posix())


def _maven(view: AndroidView, artifacts: Sequence[Artifact], dist: Path, sbom: str) -> list[Shipped]:
    """A Maven repository with the library, and with its runtime if that is a separate artifact.

    ONNX Runtime is a runtime dependency, unless it is inside the library, whose public signatures use none of its
    types. Kotlin's libraries are compile dependencies, because they do use their types.
    """
    by_kind = {artifact.kind: artifact.path for artifact in artifacts}
    runtime = list(_runtime(view))
    used = (maven.dependency(library, scope=maven.Scope.COMPILE) for library in view.libraries)
    written = maven.write_repository(
        dist / "maven",
        coordinates=maven.Coordinates(group=view.group, artifact=view.package.name, version=view.package.version),
        package=view.package,
        aar=by_kind["aar"],
        sources_jar=by_kind["sources-jar"],
        dependencies=(*runtime, *used),
        sbom=sbom,
    )
    if "runtime-aar" in by_kind:
        written += _maven_runtime(runtime[0], by_kind["runtime-aar"], dist)
    suffixes = {f".{algorithm}" for algorithm in maven.ALGORITHMS}
    return [described(path, dist, target="android", kind="maven") for path in written if path.suffix not in suffixes]


def _runtime(view: AndroidView) -> Iterator[maven.Dependency]:
    """The ONNX Runtime that the library depends on, if it is not inside."""
    if view.onnxruntime:
        allowed = view.allowed_runtimes.maven if view.allowed_runtimes else ""
        yield maven.dependency(view.onnxruntime, scope=maven.Scope.RUNTIME, is_aar=True, allowed=allowed)


def _maven_runtime(named: maven.Dependency, aar: Path, dist: Path) -> tuple[Path, ...]:
    """Publishes the runtime beside the library that depends on it."""
    package = Package(name=named.artifact, version=named.version, license="MIT", description="ONNX Runtime.")
    return maven.write_repository(
        dist / "maven",
        coordinates=maven.Coordinates(group=named.group, artifact=named.artifact, version=named.version),
        package=package,
        aar=aar,
        sources_jar=None,
        dependencies=(),
    )


def _swift(view: IosView, artifacts: Sequence[Artifact], dist: Path) -> list[Shipped]:
    """The archive of a Swift package, its registry metadata, and its files in a folder that apps add by path; ONNX
    Runtime's package beside it."""
    home = dist / "swift"
    home.mkdir(exist_ok=True)
    shipped = [_copied(artifact, home, dist) for artifact in artifacts]
    archive, *runtimes = artifacts
    unpack(archive.path, home / view.package.name)
    for runtime in runtimes:
        unpack(runtime.path, home / runtime.path.stem)
    release = home / f"{archive.path.stem}.json"
    release.write_text(_registry_entry(view.package, archive), encoding="utf-8", newline="\n")
    return [*shipped, described(release, dist, target=archive.target, kind="swift-registry")]


def unpack(archive: Path, folder: Path) -> None:
    """Extracts an archive with a single top-level folder to `folder`."""
    with zipfile.ZipFile(archive) as content:
        for entry in content.infolist():
            _, _, inside = entry.filename.partition("/")
            path = folder / inside
            path.parent.mkdir(parents=True, exist_ok=True)
            if is_link(entry):
                host.link(path, content.read(entry).decode())
                continue
            with content.open(entry) as source, path.open("wb") as target:
                shutil.copyfileobj(source, target, PIECE_BYTES)


def _registry_entry(package: Package, archive: Artifact) -> str:
    """Registry metadata of a release, except for the identifier, which the registry assigns (SE-0292, "Fetch
    information about a package release"). The checksum is that of `swift package compute-checksum`."""
    document = {
        "version": package.version,
        "resources": [{"name": "source-archive", "type": "application/zip", "checksum": archive.sha256}],
        "metadata": {"description": package.description},
    }
    return to_json(document, indent=2) + "\n"
