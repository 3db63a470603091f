"""Where the artifacts of each target lie in a release."""

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from packager import tools
from packager.release import maven
from packager.release.manifest import Shipped
from packager.targets import Target
from packager.targets.android.view import AndroidView
from packager.values import Artifact, Package


def layout(target: Target, view: Any, artifacts: Sequence[Artifact], dist: Path) -> list[Shipped]:
    """Copies the artifacts of `target` into the release folder `dist` and says where each lies."""
    home = dist / target.NAME
    home.mkdir(parents=True, exist_ok=True)
    shipped = [_copied(artifact, home, dist) for artifact in artifacts]
    if isinstance(view, AndroidView):
        shipped += _maven(view, artifacts, dist)
    return shipped


def described(path: Path, dist: Path, *, target: str, kind: str) -> Shipped:
    """A file that is in `dist` already."""
    artifact = tools.artifact(path, target=target, kind=kind)
    return Shipped(artifact=artifact, path=path.relative_to(dist).as_posix())


def _copied(artifact: Artifact, home: Path, dist: Path) -> Shipped:
    path = home / artifact.path.name
    shutil.copyfile(artifact.path, path)
    return Shipped(artifact=artifact, path=path.relative_to(dist).as_posix())


def _maven(view: AndroidView, artifacts: Sequence[Artifact], dist: Path) -> list[Shipped]:
    """A Maven repository with the library, and with its runtime where that is an artifact of its own.

    ONNX Runtime is a runtime dependency, unless it is in the library: no type of it is in the library's public
    signatures. Kotlin's standard library is a compile dependency: its types are.
    """
    by_kind = {artifact.kind: artifact.path for artifact in artifacts}
    runtime = [maven.dependency(view.onnxruntime, scope=maven.Scope.RUNTIME, is_aar=True)] if view.onnxruntime else []
    stdlib = maven.dependency(tools.pins()["android"]["kotlin-stdlib"], scope=maven.Scope.COMPILE)
    written = maven.write_repository(
        dist / "maven",
        coordinates=maven.Coordinates(group=view.group, artifact=view.package.name, version=view.package.version),
        package=view.package,
        aar=by_kind["aar"],
        sources_jar=by_kind["sources-jar"],
        dependencies=(*runtime, stdlib),
    )
    if "runtime-aar" in by_kind:
        written += _maven_runtime(runtime[0], by_kind["runtime-aar"], dist)
    suffixes = {f".{algorithm}" for algorithm in maven.ALGORITHMS}
    return [described(path, dist, target="android", kind="maven") for path in written if path.suffix not in suffixes]


def _maven_runtime(named: maven.Dependency, aar: Path, dist: Path) -> tuple[Path, ...]:
    """The runtime beside the library that depends on it."""
    package = Package(name=named.artifact, version=named.version, license="MIT", description="ONNX Runtime.")
    return maven.write_repository(
        dist / "maven",
        coordinates=maven.Coordinates(group=named.group, artifact=named.artifact, version=named.version),
        package=package,
        aar=aar,
        sources_jar=None,
        dependencies=(),
    )
