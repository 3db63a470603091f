"""An app without Expo links, bundles and compiles a generated React Native package, as far as npm and Kotlin go.

Gradle and CocoaPods have no part in it: the Android SDK, Maven's repositories and macOS are out of reach. What they ask
of others is run instead: autolinking, React Native's own Gradle tasks and CMake files, Groovy, Metro and Hermes.
"""

import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from packager.files.hashes import sha256_of
from packager.files.processes import downloads
from tests.toolchain.react_native import bare, cmake_project, codegen, gradle_plugin, groovy_build, packages
from tests.toolchain.react_native.bare import BareApp, Bundle, dependency
from tests.toolchain.react_native.gradle_plugin import Generated
from tests.toolchain.react_native.groovy_build import BuildFile, Evaluated
from tests.toolchain.require import fetched

KOTLIN_PACKAGE = "com.example.pageorientation.reactnative"
PLACE = "mobpack.PageOrientation.models"
"""Gradle property: where models come from."""
MODEL = "models/both/mobpack/PageOrientation/orientation-unfused.ort.tflite"
WITH_MODEL = """\
import './index';

globalThis.own = require('./own.ort');
"""


ALONE = """\
const { mergeConfig } = require('@react-native/metro-config');

module.exports = mergeConfig(require('./metro.test.config.js'), {
  serializer: { getModulesRunBeforeMainModule: () => [] },
});
"""
"""Has Metro bundle a script without React Native."""


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> BareApp:
    """An app on which the package of one model is installed, and which requires a model of its own as an asset.

    Tests leave it as it was.
    """
    app = bare.make(packages.page_orientation(tmp_path_factory), tmp_path_factory.mktemp("bare") / "app")
    shutil.copyfile(app.installed / MODEL, app.folder / "own.ort")
    (app.folder / "model.js").write_text(WITH_MODEL, encoding="utf-8")
    return app


@pytest.fixture(scope="module")
def bundle(app: BareApp) -> Bundle:
    """The app's release bundle for Android: with the README's example, and with the model."""
    return app.bundle("android", "model.js")


Linked = list[dict[str, object] | None]
"""The parts of the package that React Native's command line and Expo's autolinking link."""


@pytest.fixture(scope="module")
def config(app: BareApp) -> Mapping[str, Any]:
    """Output of React Native's command line, for both platforms."""
    return app.config()


def linked(app: BareApp, system: str, config: Mapping[str, Any]) -> Linked:
    return [dependency(each, app.package, system) for each in (config, app.expo_config(system))]


def test_autolinking_for_android_finds_the_kotlin_package_and_the_cpp_module(
    app: BareApp, config: Mapping[str, Any]
) -> None:
    android = str(app.installed / "android")
    for found in linked(app, "android", config):
        assert found is not None
        assert found["packageImportPath"] == f"import {KOTLIN_PACKAGE}.PageOrientationPackage;"
        assert found["packageInstance"] == "new PageOrientationPackage()"
        assert found["libraryName"] == "PageOrientationSpec"
        assert found["cxxModuleCMakeListsModuleName"] == "page_orientation_mobpack"
        assert found["cxxModuleCMakeListsPath"] == f"{android}/CMakeLists.txt"
        assert found["cxxModuleHeaderName"] == "PageOrientationCxx"
        assert found["sourceDir"] == android
        assert found["isPureCxxDependency"] is False


def test_autolinking_for_ios_finds_the_podspec(app: BareApp, config: Mapping[str, Any]) -> None:
    for found in linked(app, "ios", config):
        assert found is not None
        assert found["podspecPath"] == str(app.installed / "PageOrientation.podspec")
        assert found["version"] == packages.VERSION


@pytest.fixture(scope="module")
def generated(kotlin_compiler: None, app: BareApp, config: Mapping[str, Any]) -> Generated:
    """Output of React Native's Gradle tasks, in the app's build folder."""
    return gradle_plugin.generate(config, app.folder / "android" / "app" / "build")


def test_react_natives_gradle_tasks_register_the_package_and_the_module(generated: Generated) -> None:
    assert f"new {KOTLIN_PACKAGE}.PageOrientationPackage()" in generated.package_list
    assert "#include <PageOrientationCxx.h>" in generated.cpp
    assert "if (moduleName == PageOrientationCxx::kModuleName)" in generated.cpp
    assert "std::make_shared<PageOrientationCxx>(jsInvoker)" in generated.cpp
    assert "PageOrientationSpec_ModuleProvider(moduleName, params)" in generated.cpp


@pytest.fixture(scope="module")
def configured(app: BareApp, generated: Generated) -> cmake_project.Configured:
    """The app as CMake configures it."""
    for pin in ("cmake", "ninja"):
        fetched(pin)
    codegen.for_android(app.installed, app.installed / "android" / "build" / "generated" / "source" / "codegen")
    return cmake_project.configure(app, generated)


def include_folders(command: str) -> list[Path]:
    return [Path(found) for found in re.findall(r"-I(\S+)", command)]


def test_cmake_takes_the_package_into_the_apps_native_library(
    app: BareApp, configured: cmake_project.Configured
) -> None:
    assert configured.returncode == 0, configured.output
    assert "Warning" not in configured.output
    sources = sorted((app.installed / "cpp").glob("*.cpp"))
    assert sources
    for source in sources:
        command = configured.commands[source]
        assert "-Werror" in command, "as React Native is compiled"
        assert "c++20" in command
        assert all(path.is_dir() for path in include_folders(command)), command

    seen = [path.resolve() for path in include_folders(configured.commands[configured.source("autolinking.cpp")])]
    own = [path for path in seen if path.is_relative_to(app.installed.resolve() / "cpp")]
    assert [path.name for folder in own for path in sorted(folder.rglob("*"))] == [
        "PageOrientationCxx.h",
        "PageOrientationTypes.h",
    ]


def test_what_react_native_generates_compiles_with_the_module(configured: cmake_project.Configured) -> None:
    fetched("android-zig")
    for name in ("autolinking.cpp", "PageOrientationCxx.cpp"):
        assert cmake_project.complaints(configured, configured.source(name)) == ""


@pytest.fixture(scope="module")
def evaluated(kotlin_compiler: None, app: BareApp) -> Mapping[str, Evaluated]:
    """The package's build file in several projects."""
    fetched("groovy")
    path = app.installed / "android" / "build.gradle"
    of_the_app: Mapping[str, Mapping[str, object]] = {
        "property": {PLACE: "none"},
        "ext": {"compileSdkVersion": 37, "ndkVersion": "27.1.12297006"},
        "plugin": {"kotlin": True},
    }
    files = {
        "as it is": BuildFile(path),
        "with versions of the app": BuildFile(path, of_the_app),
        "with a place that is not known": BuildFile(path, {"property": {PLACE: "nonsense"}}),
    }
    return dict(zip(files, groovy_build.evaluate_all(list(files.values())), strict=True))


def test_the_build_file_brings_models_and_lets_other_libraries_choose_a_later_runtime(
    app: BareApp, evaluated: Mapping[str, Evaluated]
) -> None:
    assert not evaluated["as it is"].failure
    asked = evaluated["as it is"].calls
    assert [words for name, words in asked if name == "apply"] == [
        "{plugin=com.android.library}",
        "{plugin=org.jetbrains.kotlin.android}",
        "{plugin=com.facebook.react}",
    ]
    assert ("android.namespace", KOTLIN_PACKAGE) in asked
    runtime = downloads.pins()["android"]["onnxruntime"]
    module, _, version = runtime.rpartition(":")
    assert ("dependencies.implementation", module) in asked
    assert ("dependencies.implementation.version.require", f"[{version}, 2)") in asked
    assert ("dependencies.implementation.version.prefer", version) in asked
    folders = [words for name, words in asked if name == "android.sourceSets.main.assets.srcDir"]
    files = [path for folder in folders for path in (app.installed / "android" / folder).rglob("*.ort.tflite")]
    assert app.installed / MODEL in [path.resolve() for path in files]


def test_the_build_file_takes_versions_of_the_app_and_leaves_models_out(evaluated: Mapping[str, Evaluated]) -> None:
    assert not evaluated["with versions of the app"].failure
    asked = evaluated["with versions of the app"].calls
    assert ("android.compileSdk", "37") in asked
    assert ("android.ndkVersion", "27.1.12297006") in asked
    assert ("apply", "{plugin=org.jetbrains.kotlin.android}") not in asked
    assert "android.sourceSets.main.assets.srcDir" not in dict(asked)


def test_the_build_file_refuses_a_place_for_models_that_it_does_not_know(evaluated: Mapping[str, Evaluated]) -> None:
    found = evaluated["with a place that is not known"].failure
    assert "must be package, app or none, not nonsense" in found


def test_pod_install_generates_the_cpp_specification_and_no_objective_c(app: BareApp, tmp_path: Path) -> None:
    folder = codegen.for_ios(app.folder, tmp_path)
    assert "class JSI_EXPORT NativePageOrientationCxxCxxSpec" in (folder / "PageOrientationSpecJSI.h").read_text(
        "utf-8"
    )
    # Neither the C++ module, which registers itself, nor Android's is to have an Objective-C class.
    written = [path.read_text("utf-8") for path in folder.rglob("*.mm")]
    assert written
    assert not [text for text in written if "@protocol Native" in text or "PageOrientationFilesAndroid" in text]


def test_metro_bundles_the_readmes_example(app: BareApp, bundle: Bundle) -> None:
    inside = [source.rpartition(f"/{app.package}/")[2] for source in bundle.sources if f"/{app.package}/" in source]
    assert inside.count("lib/index.js") == 1
    assert len(inside) == len(set(inside))
    assert all(path.startswith("lib/") for path in inside)
    assert not [path for path in inside if "web" in path or "onnxruntime" in path]
    assert bundle.script.read_text(encoding="utf-8").count(".get('PageOrientationCxx')") == 1
    assert [path.name for path in bundle.assets.rglob("*.ort*")] == [bundle.asset("own.ort").name]


def test_hermes_compiles_the_bundle(bundle: Bundle, tmp_path: Path) -> None:
    bytecode = tmp_path / "main.hbc"
    bare.hermes(bundle.script, bytecode)
    content = bytecode.read_bytes()
    assert content.startswith(bare.HERMES_MAGIC)
    assert b"PageOrientationCxx" in content


def test_metro_leaves_a_required_model_as_it_is(app: BareApp, bundle: Bundle) -> None:
    (app.folder / "alone.js").write_text("globalThis.own = require('./own.ort');\n", encoding="utf-8")
    (app.folder / "metro.alone.config.js").write_text(ALONE, encoding="utf-8")
    alone = app.bundle("ios", "alone.js", "metro.alone.config.js")
    for made in (bundle, alone):
        assert sha256_of(made.asset("own.ort")) == sha256_of(app.installed / MODEL)
