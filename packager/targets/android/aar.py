"""Lays out an Android library archive (.aar) and writes the manifest and consumer rules."""

import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from packager.files.zips import ZIP_EPOCH, Content, write_zip
from packager.render.templates import render
from packager.targets.kotlin.names import ONNXRUNTIME
from packager.targets.partials import MANIFEST, with_partial
from packager.targets.target import PackagedRuntime

ASSETS = PurePosixPath("assets")
META_INF = PurePosixPath("META-INF")
NO_FILES: Mapping[PurePosixPath, Path] = {}
NO_TEXTS: Mapping[str, str] = {}
AAR_METADATA = PurePosixPath("META-INF/com/android/build/gradle/aar-metadata.properties")
RUNTIME_JAR = PurePosixPath("libs/onnxruntime.jar")
"""Place of a bundled runtime's classes: Gradle puts the jars of a library there as well."""


@dataclass(frozen=True, kw_only=True)
class ManifestView:
    """AndroidManifest.xml of a library."""

    package: str
    """the namespace; empty in a Gradle project, where build.gradle.kts declares it and a manifest must not"""
    min_sdk: int
    """0 in a Gradle project, for the same reason"""
    has_telemetry: bool
    """whether the library depends on an ONNX Runtime whose own manifest starts telemetry"""
    providers_in_manifest: tuple[str, ...]
    """providers with something to say in it"""


@dataclass(frozen=True, kw_only=True)
class ConsumerRulesView:
    """consumer-rules.pro"""

    onnxruntime: str
    """Java package of its classes"""
    rules: str
    """rules of a bundled runtime"""
    native_class: str
    """class whose functions are in C; empty if there is none"""


def manifest(*, package: str = "", min_sdk: int = 0, has_telemetry: bool = True, providers: Sequence[str] = ()) -> str:
    """AndroidManifest.xml; for a Gradle project, without package and min_sdk."""
    view = ManifestView(
        package=package,
        min_sdk=min_sdk,
        has_telemetry=has_telemetry,
        providers_in_manifest=with_partial(providers, MANIFEST),
    )
    return render("android/AndroidManifest.xml.j2", view)


def consumer_rules(onnxruntime: str = ONNXRUNTIME, *, rules: str = "", native_class: str = "") -> str:
    """R8 rules for apps that use the library; `rules` are those of a bundled runtime."""
    view = ConsumerRulesView(onnxruntime=onnxruntime, rules=rules.strip(), native_class=native_class)
    return render("android/consumer-rules.pro.j2", view)


def write_aar(
    path: Path,
    *,
    manifest: str,
    classes_jar: Path,
    consumer_rules: str,
    readme: str,
    about: Mapping[str, str] = NO_TEXTS,
    assets: Mapping[PurePosixPath, Content],
    licenses: Mapping[PurePosixPath, Path],
    namespace: str,
    min_compile_sdk: int,
    libraries: Mapping[PurePosixPath, Path] = NO_FILES,
    runtime: PackagedRuntime | None = None,
) -> Path:
    """Writes the archive to `path` and returns it, including `libraries` of the package's own, by path in the archive,
    and the libraries and classes of `runtime`, if given.

    `assets` are keyed by path below assets/, `licenses` by file name, and `about`, the texts about the package, too.
    These two go to META-INF/<namespace>/ of the archive, which Android's build ignores. In classes.jar they would be
    merged into the app, where two libraries with a META-INF/LICENSE clash. `min_compile_sdk` is the oldest compileSdk
    of apps that use the library.
    """
    entries: dict[PurePosixPath, Content] = {
        PurePosixPath("AndroidManifest.xml"): manifest.encode(),
        PurePosixPath("classes.jar"): classes_jar,
        PurePosixPath("R.txt"): b"",
        PurePosixPath("proguard.txt"): consumer_rules.encode(),
        PurePosixPath("README.md"): readme.encode(),
        AAR_METADATA: _aar_metadata(min_compile_sdk).encode(),
    }
    entries |= {ASSETS / name: file for name, file in assets.items()}
    entries |= {META_INF / namespace / name: file for name, file in licenses.items()}
    entries |= {META_INF / namespace / name: text.encode() for name, text in about.items()}
    entries |= libraries
    if runtime:
        entries |= runtime.libraries
        entries |= {RUNTIME_JAR: runtime.classes} if runtime.classes else {}
    return write_zip(path, entries)


def add(path: Path, about: Mapping[str, str], namespace: str) -> None:
    """Adds the texts about the package to the archive that Gradle has made."""
    with zipfile.ZipFile(path, "a") as archive:
        for name, text in about.items():
            archive.writestr(zipfile.ZipInfo((META_INF / namespace / name).as_posix(), ZIP_EPOCH), text)


def write_runtime_aar(path: Path, runtime: PackagedRuntime, *, min_sdk: int) -> Path:
    """Writes `runtime` as a separate library, without the start-up component and permissions of telemetry."""
    assert runtime.classes is not None
    entries: dict[PurePosixPath, Content] = {
        PurePosixPath("AndroidManifest.xml"): manifest(
            package=runtime.java_package, min_sdk=min_sdk, has_telemetry=False
        ).encode(),
        PurePosixPath("classes.jar"): runtime.classes,
        PurePosixPath("R.txt"): b"",
        PurePosixPath("proguard.txt"): consumer_rules(runtime.java_package, rules=runtime.rules).encode(),
        AAR_METADATA: _aar_metadata(min_sdk).encode(),
    }
    return write_zip(path, {**entries, **runtime.libraries})


def _aar_metadata(min_compile_sdk: int) -> str:
    """Metadata that Android's Gradle plugin checks before it uses the archive (task checkAarMetadata)."""
    return (
        "aarFormatVersion=1.0\n"
        "aarMetadataVersion=1.0\n"
        f"minCompileSdk={min_compile_sdk}\n"
        "minAndroidGradlePluginVersion=1.0.0\n"
        "coreLibraryDesugaringEnabled=false\n"
    )


def write_sources_jar(path: Path, texts: Mapping[PurePosixPath, str]) -> Path:
    """Writes the sources jar for IDEs, with `texts` by path below the source root; returns `path`."""
    return write_zip(path, {name: text.encode() for name, text in texts.items()})
