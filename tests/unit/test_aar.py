"""The .aar: what Android's build expects in it, nothing that clashes in an app, telemetry switched off."""

import zipfile
from pathlib import Path, PurePosixPath
from xml.etree import ElementTree

import pytest

from packager.files.zips import write_zip
from packager.targets.android.aar import add, consumer_rules, manifest, write_aar
from tests.cases.archives import read_zip

ABOUT = PurePosixPath("META-INF/com.example.vision")
ANDROID = "{http://schemas.android.com/apk/res/android}"
TOOLS = "{http://schemas.android.com/tools}"


@pytest.fixture
def aar(tmp_path: Path) -> Path:
    classes = {PurePosixPath("com/example/Vision.class"): b"\xca\xfe\xba\xbe" * 100}
    (tmp_path / "vision.ort").write_bytes(b"ORTM" * 1000)
    (tmp_path / "LICENSE").write_text("Apache License", encoding="utf-8")
    return write_aar(
        tmp_path / "vision.aar",
        manifest=manifest(package="com.example.vision", min_sdk=24),
        classes_jar=write_zip(tmp_path / "compiled.jar", classes),
        consumer_rules=consumer_rules(),
        readme="",
        assets={PurePosixPath("mobpack/vision/vision.ort"): tmp_path / "vision.ort"},
        licenses={PurePosixPath("LICENSE-vision.txt"): tmp_path / "LICENSE"},
        namespace="com.example.vision",
        min_compile_sdk=24,
    )


def test_archive_holds_what_the_android_build_expects(aar: Path) -> None:
    assert [str(name) for name in read_zip(aar)] == [
        "AndroidManifest.xml",
        "META-INF/com.example.vision/LICENSE-vision.txt",
        "META-INF/com/android/build/gradle/aar-metadata.properties",
        "R.txt",
        "README.md",
        "assets/mobpack/vision/vision.ort",
        "classes.jar",
        "proguard.txt",
    ]


def test_texts_about_the_package_are_added_to_what_gradle_has_made(aar: Path) -> None:
    before = read_zip(aar)
    for name in ("api.json", "sbom.cdx.json"):
        add(aar, {name: "{}"}, "com.example.vision")
    after = read_zip(aar)
    assert after == {**before, **{ABOUT / name: b"{}" for name in ("api.json", "sbom.cdx.json")}}


def test_libraries_are_mapped_classes_taken_and_one_rule_keeps_what_native_code_looks_up(
    aar: Path, tmp_path: Path
) -> None:
    with zipfile.ZipFile(aar) as archive:
        assert archive.getinfo("assets/mobpack/vision/vision.ort").compress_type == zipfile.ZIP_STORED
    assert read_zip(aar)[PurePosixPath("classes.jar")] == (tmp_path / "compiled.jar").read_bytes()
    rules = [line for line in consumer_rules().splitlines() if line and not line.startswith("#")]
    assert rules == ["-keep class ai.onnxruntime.** { *; }", "-dontwarn androidx.annotation.**"]


def test_metadata_names_the_oldest_compile_sdk(aar: Path) -> None:
    text = read_zip(aar)[PurePosixPath("META-INF/com/android/build/gradle/aar-metadata.properties")].decode()
    assert dict(line.split("=") for line in text.splitlines()) == {
        "aarFormatVersion": "1.0",
        "aarMetadataVersion": "1.0",
        "minCompileSdk": "24",
        "minAndroidGradlePluginVersion": "1.0.0",
        "coreLibraryDesugaringEnabled": "false",
    }


def test_the_manifest_names_package_and_min_sdk_unless_a_build_file_does() -> None:
    root = ElementTree.fromstring(manifest(package="com.example.vision", min_sdk=24))
    assert root.get("package") == "com.example.vision"
    assert [found.get(f"{ANDROID}minSdkVersion") for found in root.iter("uses-sdk")] == ["24"]
    root = ElementTree.fromstring(manifest())
    assert "package" not in root.attrib
    assert list(root.iter("uses-sdk")) == []
    root = ElementTree.fromstring(manifest(has_telemetry=False, providers=("nnapi", "xnnpack")))
    assert root.find("application") is None


@pytest.mark.parametrize("text", [manifest(), manifest(package="com.example.vision", min_sdk=24)])
def test_manifest_takes_out_the_telemetry_component_and_adds_nothing(text: str) -> None:
    root = ElementTree.fromstring(text)
    application = root.find("application")
    assert application is not None
    assert [(node.tag, node.get(f"{ANDROID}name"), node.get(f"{TOOLS}node")) for node in application] == [
        ("provider", "ai.onnxruntime.TelemetryInitializer", "remove")
    ]
    assert list(root.iter("uses-permission")) == []


@pytest.mark.parametrize("has_telemetry", [True, False])
def test_manifest_opens_the_library_that_qnn_needs_on_devices_that_have_it(has_telemetry: bool) -> None:
    root = ElementTree.fromstring(manifest(has_telemetry=has_telemetry, providers=("nnapi", "qnn")))
    assert [
        (each.get(f"{ANDROID}name"), each.get(f"{ANDROID}required")) for each in root.iter("uses-native-library")
    ] == [("libcdsprpc.so", "false")]
    assert len(list(root.iter("application"))) == 1
