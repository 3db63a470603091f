"""Lays out an Android library archive (.aar) and writes the two texts only it has."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from packager.archives import Content, write_zip
from packager.render import render

ASSETS = PurePosixPath("assets")
AAR_METADATA = PurePosixPath("META-INF/com/android/build/gradle/aar-metadata.properties")


@dataclass(frozen=True, kw_only=True)
class ManifestView:
    """AndroidManifest.xml of a library."""

    package: str
    """the namespace; empty in a Gradle project, where build.gradle.kts says it and a manifest must not"""
    min_sdk: int
    """0 in a Gradle project, for the same reason"""


@dataclass(frozen=True, kw_only=True)
class ConsumerRulesView:
    """consumer-rules.pro, the same for every package."""


def manifest(*, package: str = "", min_sdk: int = 0) -> str:
    """AndroidManifest.xml; without arguments, the one of a Gradle project."""
    return render("android/AndroidManifest.xml.j2", ManifestView(package=package, min_sdk=min_sdk))


def consumer_rules() -> str:
    """What R8 must know in the app that uses the library."""
    return render("android/consumer-rules.pro.j2", ConsumerRulesView())


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
) -> Path:
    """Writes the archive to `path` and returns it.

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
    return write_zip(path, entries)


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
