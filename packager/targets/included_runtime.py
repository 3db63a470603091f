"""The ONNX Runtime of the targets that a wrapper includes: the published one, or that of the user's own."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from packager.targets.target import Built, PackagedRuntime

LIBRARY = "libonnxruntime.so"
JAVA_LIBRARY = "4j_jni.so"
"""suffix of the library for Java, which wrappers do not use"""
LIBRARIES = PurePosixPath("android/src/main/jniLibs")


@dataclass(frozen=True, kw_only=True)
class Linked:
    """ONNX Runtime for Android in a package."""

    library: str
    """library file that the code opens"""
    coordinates: str
    """Gradle coordinates; empty if it is in the package"""
    files: Mapping[PurePosixPath, Path]


def linked(android: Built) -> Linked:
    own = android.own
    if not isinstance(own, PackagedRuntime):
        return Linked(library=LIBRARY, coordinates=android.dependency, files={})
    if own.ship == "dependency":
        return Linked(library=LIBRARY, coordinates=own.coordinates, files={})
    # a Maven artifact would need a repository, which a wrapper cannot provide
    wanted = {path: file for path, file in own.libraries.items() if not path.name.endswith(JAVA_LIBRARY)}
    (library,) = {path.name for path in wanted}
    return Linked(
        library=library,
        coordinates="",
        files={LIBRARIES / path.relative_to("jni"): file for path, file in wanted.items()},
    )


def oldest(built: Built) -> str:
    """The oldest published ONNX Runtime that an app may bring; empty for one of the user's own, which may lack what
    another package needs."""
    if built.own:
        return ""
    return built.runtime_range.releases[0] if built.runtime_range else built.runtime_version


def documented(built: Built) -> str:
    """The ONNX Runtime of a platform, as documents of channels name it."""
    own = built.own
    if own is None:
        return built.dependency
    where = own.coordinates if isinstance(own, PackagedRuntime) else own.url
    return where or f"ONNX Runtime {own.version}"


def has_telemetry(android: Built) -> bool:
    """Whether telemetry starts: libraries of the user's own come without the manifest that starts it."""
    return not isinstance(android.own, PackagedRuntime) or android.own.ship == "dependency"
