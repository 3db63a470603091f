"""ONNX Runtime in packages for Flutter: published, of the project's own, and settings that start its providers."""

from dataclasses import replace
from pathlib import Path, PurePosixPath

import pytest

from packager.core.values import Sources
from packager.files.processes import downloads
from packager.render.templates import write_sources
from packager.targets import PackagedRuntime
from packager.targets.flutter import assets
from packager.targets.flutter.view import FlutterView
from packager.targets.target import OwnRuntime
from packager.targets.typescript.files import Layout
from packager.targets.xcframework.packaged import PackagedFramework
from tests.golden.cases import FLUTTER_CASES, built_of
from tests.toolchain.react_native import groovy_build
from tests.toolchain.require import fetched

CASE = FLUTTER_CASES["everything"]
PACKAGES = FLUTTER_CASES["contracts"]


def with_own(**own: OwnRuntime) -> tuple[FlutterView, Sources]:
    """The package whose targets have runtimes of the user's own."""
    built = {each.target.NAME: built_of(each) for each in CASE.cases}
    built |= {name: replace(built[name], own=each, runtime_version=each.version) for name, each in own.items()}
    golden = {key: found for each in CASE.cases for key, found in each.golden.items()}
    view = CASE.target.view(CASE.package, built, CASE.cases[0].report, golden)
    return view, CASE.target.render(view)


@pytest.fixture
def groovy(kotlin_compiler: None) -> None:
    fetched("groovy")


def test_gradle_lets_other_libraries_of_an_app_choose_a_later_runtime(groovy: None, tmp_path: Path) -> None:
    asked = evaluated(PACKAGES.sources(), tmp_path)
    module, _, version = downloads.pins()["android"]["onnxruntime"].rpartition(":")
    assert ("apply", "{plugin=com.android.library}") in asked
    assert ("android.namespace", "com.example.contracts.flutter") in asked
    assert ("dependencies.implementation", module) in asked
    assert ("dependencies.implementation.version.require", f"[{version}, 2)") in asked
    assert ("dependencies.implementation.version.prefer", version) in asked


def test_gradle_depends_on_exactly_the_runtime_of_the_project_s_own(groovy: None, tmp_path: Path) -> None:
    own = PackagedRuntime(version="1.2.3", ship="dependency", coordinates="com.acme:onnxruntime:1.2.3", libraries={})
    view, sources = with_own(android=own)
    asked = evaluated(sources, tmp_path)
    assert ("dependencies.implementation", "com.acme:onnxruntime:1.2.3") in asked
    assert ("dependencies.implementation.version.strictly", "1.2.3") in asked
    assert view.names.has_telemetry, "its manifest may start it"


def evaluated(sources: Sources, folder: Path) -> list[tuple[str, str]]:
    write_sources(Sources(texts=sources.texts, files={}), folder)
    return groovy_build.evaluate(folder / "android" / "build.gradle")


def test_a_runtime_of_the_project_s_own_for_android_is_in_the_package(tmp_path: Path) -> None:
    names = ("libacmexq12abc.so", "libacmexq12abc4j_jni.so")
    libraries = {PurePosixPath("jni", "arm64-v8a", name): tmp_path / name for name in names}
    own = PackagedRuntime(version="1.2.3", ship="inside", coordinates="", libraries=libraries)
    view, sources = with_own(android=own)
    folder = PurePosixPath("android/src/main/jniLibs/arm64-v8a")
    assert [path for path in sources.files if path.is_relative_to(folder)] == [folder / names[0]], "Java's is left out"
    assert "dependencies {" not in sources.texts[PurePosixPath("android/build.gradle")]
    assert not view.names.has_telemetry
    model = sources.texts[PurePosixPath("lib/src/models/options.dart")]
    assert 'library: "libacmexq12abc.so"' in model
    assert 'oldestRuntime: "1.2.3"' in model


def test_a_runtime_of_the_project_s_own_for_ios_is_a_swift_package_in_the_package(tmp_path: Path) -> None:
    inside = tmp_path / "acme.xcframework" / "macos-arm64" / "acme.framework"
    inside.mkdir(parents=True)
    (inside / "acme").write_bytes(b"code")
    (inside / "Resources").symlink_to(".")
    (tmp_path / "acme.xcframework" / "Info.plist").write_bytes(b"")
    own = PackagedFramework(
        version="1.2.3", ship="inside", folder=tmp_path / "acme.xcframework", name="acme", sha256="0123456789abcdef"
    )
    view, sources = with_own(ios=own)
    home = PurePosixPath("darwin/every_thing/onnxruntime-binary-1.2.3-01234567")
    assert view.names.apple
    assert view.names.apple.runtime.place == home.name, "packages with other runtimes have folders of other names"
    framework = home / "acme.xcframework" / "macos-arm64" / "acme.framework"
    assert framework / "acme" in sources.files
    assert sources.links == {framework / "Resources": "."}
    assert 'path: "acme.xcframework"' in sources.texts[home / "Package.swift"]
    parts = CASE.target.parts(view).libraries
    assert [(each.name, each.version) for each in parts][1:] == [("onnxruntime", "1.2.3")]


def test_every_provider_of_a_phone_is_named_with_its_settings_and_files() -> None:
    model = CASE.sources().texts[PurePosixPath("lib/src/models/every_thing_v2.dart")]
    android, _, ios = model.partition('"ios": PlatformSetup(')
    for name in ("qnn", "nnapi", "xnnpack", "webgpu"):
        assert f"ProviderSetup(Provider.{name}, {{" in android
    assert '"backend_path": "libQnnHtp.so"' in android
    assert 'chips: ["SM8650"]' in android
    assert "ProviderSetup(Provider.coreml, {" in ios
    assert '"ModelFormat": "MLProgram"' in ios
    assert "qnn" not in ios
    manifest = CASE.sources().texts[PurePosixPath("android/src/main/AndroidManifest.xml")]
    assert "libcdsprpc.so" in manifest
    assert "useLegacyPackaging" in CASE.sources().texts[PurePosixPath("README.md")]


def test_files_that_are_too_large_for_assets_of_android_are_assets_of_the_others(tmp_path: Path) -> None:
    layout = Layout()
    for name, size in (("small", 1), ("large", assets.LARGEST_BYTES + 1)):
        (tmp_path / name).write_bytes(name.encode())
        for platform in ("android", "ios"):
            layout.add(platform, name, ".ort", tmp_path / name, name, size)
    found = assets.declared(PurePosixPath("models"), layout, {"android": {}, "ios": {}}, [])
    assert {each.path: each.platforms for each in found} == {
        "models/large.ort": ("ios", "macos"),
        "models/small.ort": ("android", "ios", "macos"),
    }
    assert assets.too_large(layout) == ("large.ort",)
