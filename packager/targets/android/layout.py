"""The Maven repository in a release, from which apps get an Android library."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from packager.core.values import Artifact, Package
from packager.targets import maven
from packager.targets.android.view import AndroidView
from packager.targets.layouts import copied, described
from packager.targets.target import Shipped


def lay_out(view: AndroidView, artifacts: Sequence[Artifact], dist: Path, sbom: str) -> list[Shipped]:
    """The artifacts, and a Maven repository with the library, and with its runtime if that is a separate artifact.

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
        library=by_kind["aar"],
        sources_jar=by_kind["sources-jar"],
        dependencies=(*runtime, *used),
        sbom=sbom,
    )
    if "runtime-aar" in by_kind:
        written += _maven_runtime(runtime[0], by_kind["runtime-aar"], dist)
    suffixes = {f".{algorithm}" for algorithm in maven.ALGORITHMS}
    found = [described(path, dist, target="android", kind="maven") for path in written if path.suffix not in suffixes]
    return [*copied(artifacts, dist, "android"), *found]


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
        library=aar,
        sources_jar=None,
        dependencies=(),
    )
