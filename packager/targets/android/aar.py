"""Lays out an Android library archive (.aar) and writes the two texts only it has."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from packager.files.zips import Content, write_zip
from packager.render import render
from packager.targets.target import PackagedRuntime

ASSETS = PurePosixPath("assets")
AAR_METADATA = PurePosixPath("META-INF/com/android/build/gradle/aar-metadata.properties")
ONNXRUNTIME = "ai.onnxruntime"
"""The Java package of ONNX Runtime's classes, unless they were renamed."""
RUNTIME_JAR = PurePosixPath("libs/onnxruntime.jar")
"""Where classes of a runtime that comes along lie: Gradle puts the jars that a library is built with there, too."""


@dataclass(frozen=True, kw_only=True)
class ManifestView:
    """AndroidManifest.xml of a library."""

    package: str
    """the namespace; empty in a Gradle project, where build.gradle.kts says it and a manifest must not"""
    min_sdk: int
    """0 in a Gradle project, for the same reason"""
    has_telemetry: bool
    """whether the library depends on an ONNX Runtime whose own manifest starts telemetry"""


@dataclass(frozen=True, kw_only=True)
class ConsumerRulesView:
    """consumer-rules.pro"""

    onnxruntime: str
    """the Java package of its classes"""
    rules: str
    """those of a runtime that the library brings along"""


def manifest(*, package: str = "", min_sdk: int = 0, has_telemetry: bool = True) -> str:
    """AndroidManifest.xml; without package and min_sdk, the one of a Gradle project."""
    view = ManifestView(package=package, min_sdk=min_sdk, has_telemetry=has_telemetry)
    return render("android/AndroidManifest.xml.j2", view)


def consumer_rules(onnxruntime: str = ONNXRUNTIME, rules: str = "") -> str:
    """What R8 must know in the app that uses the library; `rules` are those of a runtime that it brings along."""
    return render("android/consumer-rules.pro.j2", ConsumerRulesView(onnxruntime=onnxruntime, rules=rules.strip()))


def write_aar(
    path: Path,
    *,
    manifest: str,
    classes_jar: Path,
    consumer_rules: str,
    assets: Mapping[PurePosixPath, Path],
    licenses: Mapping[PurePosixPath, Path],
    namespace: str,
    min_compile_sdk: int,
    runtime: PackagedRuntime | None = None,
) -> Path:
    """Writes the archive to `path` and returns it, with the libraries and classes of `runtime` where one is given.

    `assets` are by path below assets/, `licenses` by file name. A license lands in META-INF/<namespace>/ of
    the archive, which Android's build leaves alone. In classes.jar it would be merged into the app, where two
    libraries with a META-INF/LICENSE clash.
    `min_compile_sdk` is the oldest compileSdk an app may use with the library.
    """
    entries: dict[PurePosixPath, Content] = {
        PurePosixPath("AndroidManifest.xml"): manifest.encode(),
        PurePosixPath("classes.jar"): classes_jar,
        PurePosixPath("R.txt"): b"",
        PurePosixPath("proguard.txt"): consumer_rules.encode(),
        AAR_METADATA: _aar_metadata(min_compile_sdk).encode(),
    }
    entries |= {ASSETS / name: file for name, file in assets.items()}
    entries |= {PurePosixPath("META-INF") / namespace / name: file for name, file in licenses.items()}
    if runtime:
        entries |= runtime.libraries
        entries |= {RUNTIME_JAR: runtime.classes} if runtime.classes else {}
    return write_zip(path, entries)


def write_runtime_aar(path: Path, runtime: PackagedRuntime, *, min_sdk: int) -> Path:
    """Writes `runtime` as a library of its own, without telemetry's start-up component and permissions."""
    assert runtime.classes is not None
    entries: dict[PurePosixPath, Content] = {
        PurePosixPath("AndroidManifest.xml"): manifest(
            package=runtime.java_package, min_sdk=min_sdk, has_telemetry=False
        ).encode(),
        PurePosixPath("classes.jar"): runtime.classes,
        PurePosixPath("R.txt"): b"",
        PurePosixPath("proguard.txt"): consumer_rules(runtime.java_package, runtime.rules).encode(),
        AAR_METADATA: _aar_metadata(min_sdk).encode(),
    }
    return write_zip(path, {**entries, **runtime.libraries})


def _aar_metadata(min_compile_sdk: int) -> str:
    """What Android's Gradle plugin checks before it takes the archive (task checkAarMetadata)."""
    return (
        "aarFormatVersion=1.0\n"
        "aarMetadataVersion=1.0\n"
        f"minCompileSdk={min_compile_sdk}\n"
        "minAndroidGradlePluginVersion=1.0.0\n"
        "coreLibraryDesugaringEnabled=false\n"
    )


def write_sources_jar(path: Path, texts: Mapping[PurePosixPath, str]) -> Path:
    """Writes the jar of sources that an IDE shows, `texts` by path below the source root; returns `path`."""
    return write_zip(path, {name: text.encode() for name, text in texts.items()})
