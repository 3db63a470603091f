"""An app without Expo links, bundles and compiles a generated React Native package, as far as npm and Kotlin go.

Gradle and CocoaPods have no part in it: the Android SDK, Maven's repositories and macOS are out of reach. What they ask
of others is run instead: autolinking, React Native's own Gradle tasks and CMake files, Groovy, Metro and Hermes.
"""

import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from packager.core.errors import ToolError
from packager.files.hashes import sha256_of
from packager.processes import downloads
from tests.toolchain import projects
from tests.toolchain.react_native import bare, cmake_project, codegen, gradle_plugin, groovy_build, packages
from tests.toolchain.react_native.bare import PLATFORMS, BareApp, Bundle, dependency
from tests.toolchain.require import fetched

pytestmark = [pytest.mark.by_content(of=[projects.PAGES]), pytest.mark.react_native]
KOTLIN_PACKAGE = "com.example.pageorientation.reactnative"
MODEL = "models/both/mobpack/PageOrientation/orientation-unfused.ort.tflite"
WITH_MODEL = """\
import { AppRegistry } from 'react-native';

AppRegistry.registerComponent('Fixture', () => () => require('./own.ort'));
"""


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> BareApp:
    """An app on which the package of one model is installed. Tests leave it as it was."""
    return bare.make(packages.page_orientation(tmp_path_factory), tmp_path_factory.mktemp("bare") / "app")


@pytest.fixture(scope="module")
def bundle(app: BareApp) -> Callable[[str], Bundle]:
    """The app's release bundles, made once each."""
    made: dict[str, Bundle] = {}

    def bundle_of(system: str) -> Bundle:
        if system not in made:
            made[system] = app.bundle(system)
        return made[system]

    return bundle_of


@contextmanager
def changed(path: Path, text: str | None) -> Iterator[None]:
    """Change or remove the file for a while."""
    kept = path.with_name(f"{path.name}.kept")
    path.rename(kept)  # the package's files are links to those of other tests: they are never written to
    try:
        if text is not None:
            path.write_text(text, encoding="utf-8")
        yield
    finally:
        kept.replace(path)


def linked(app: BareApp, system: str) -> list[dict[str, object] | None]:
    """The parts of the package that React Native's command line and Expo's autolinking link."""
    return [dependency(config, app.package, system) for config in (app.config(), app.expo_config(system))]


def test_autolinking_for_android_finds_the_kotlin_package_and_the_cpp_module(app: BareApp) -> None:
    android = str(app.installed / "android")
    for found in linked(app, "android"):
        assert found is not None
        assert found["packageImportPath"] == f"import {KOTLIN_PACKAGE}.PageOrientationPackage;"
        assert found["packageInstance"] == "new PageOrientationPackage()"
        assert found["libraryName"] == "PageOrientationSpec"
        assert found["cxxModuleCMakeListsModuleName"] == "page_orientation_mobpack"
        assert found["cxxModuleCMakeListsPath"] == f"{android}/CMakeLists.txt"
        assert found["cxxModuleHeaderName"] == "PageOrientationCxx"
        assert found["sourceDir"] == android
        assert found["isPureCxxDependency"] is False


def test_autolinking_for_android_drops_a_package_without_its_kotlin_class(app: BareApp) -> None:
    folder = app.installed.joinpath("android/src/main/kotlin", *KOTLIN_PACKAGE.split("."))
    with changed(folder / "PageOrientationPackage.kt", None):
        assert linked(app, "android") == [None, None]


def test_autolinking_without_the_settings_for_cpp_links_no_cpp_module(app: BareApp) -> None:
    with changed(app.installed / "react-native.config.js", "module.exports = {};\n"):
        for found in linked(app, "android"):
            assert found is not None
            assert found["cxxModuleHeaderName"] is None


def test_autolinking_for_ios_finds_the_podspec(app: BareApp) -> None:
    for found in linked(app, "ios"):
        assert found is not None
        assert found["podspecPath"] == str(app.installed / "PageOrientation.podspec")
        assert found["version"] == packages.VERSION


def test_autolinking_for_ios_drops_a_package_without_podspec(app: BareApp) -> None:
    with changed(app.installed / "PageOrientation.podspec", None):
        assert linked(app, "ios") == [None, None]


def test_react_natives_gradle_tasks_register_the_package_and_the_module(
    kotlin_compiler: None, app: BareApp, tmp_path: Path
) -> None:
    made = gradle_plugin.generate(app.config(), tmp_path)
    assert f"new {KOTLIN_PACKAGE}.PageOrientationPackage()" in made.package_list
    assert "#include <PageOrientationCxx.h>" in made.cpp
    assert "if (moduleName == PageOrientationCxx::kModuleName)" in made.cpp
    assert "std::make_shared<PageOrientationCxx>(jsInvoker)" in made.cpp
    assert "PageOrientationSpec_ModuleProvider(moduleName, params)" in made.cpp


def test_react_natives_gradle_tasks_refuse_what_lacks_a_key(
    kotlin_compiler: None, app: BareApp, tmp_path: Path
) -> None:
    config = app.config()
    del config["dependencies"][app.package]["platforms"]["android"]["packageInstance"]
    with pytest.raises(ToolError, match="React Native cannot read"):
        gradle_plugin.generate(config, tmp_path)


@pytest.fixture(scope="module")
def configure(kotlin_compiler: None, app: BareApp) -> Callable[[], cmake_project.Configured]:
    """Let CMake configure the app with the package's current sources."""
    for pin in ("cmake", "ninja"):
        fetched(pin)
    codegen.for_android(app.installed, app.installed / "android" / "build" / "generated" / "source" / "codegen")
    build = app.folder / "android" / "app" / "build"
    made = gradle_plugin.generate(app.config(), build)
    return lambda: cmake_project.configure(app, made)


def faults(done: cmake_project.Configured, app: BareApp) -> list[str]:
    """Faults of an app's native build, which must include the package's sources and header."""
    sources = sorted((app.installed / "cpp").glob("*.cpp"))
    commands = [done.commands.get(source, "") for source in sources]
    checks = {
        done.output: done.returncode == 0 and "Warning" not in done.output,
        "not all sources are compiled": bool(sources) and all(commands),
        "not as React Native is compiled": all("-Werror" in each and "c++20" in each for each in commands),
        "a folder of headers is not there": all(path.is_dir() for each in commands for path in include_folders(each)),
    }
    return [fault for fault, is_right in checks.items() if not is_right]


def include_folders(command: str) -> list[Path]:
    return [Path(found) for found in re.findall(r"-I(\S+)", command)]


def test_cmake_takes_the_package_into_the_apps_native_library(
    app: BareApp, configure: Callable[[], cmake_project.Configured]
) -> None:
    assert faults(configure(), app) == []


def test_the_app_sees_the_headers_of_the_module_alone(
    app: BareApp, configure: Callable[[], cmake_project.Configured]
) -> None:
    done = configure()
    seen = [path.resolve() for path in include_folders(done.commands[done.source("autolinking.cpp")])]
    own = [path for path in seen if path.is_relative_to(app.installed.resolve() / "cpp")]
    assert [path.name for folder in own for path in sorted(folder.rglob("*"))] == [
        "PageOrientationCxx.h",
        "PageOrientationTypes.h",
    ]


@pytest.mark.parametrize(
    ("right", "wrong", "fault"),
    [
        ("/../cpp/", "/../native/", "CMake Error"),
        ("/../cpp)", "/../native)", "a folder of headers is not there"),
        ("add_library(page_orientation_mobpack ", "add_library(other ", "page_orientation_mobpack"),
        ("react_codegen_PageOrientationSpec", "react_codegen::Other", "react_codegen::Other"),
        ("target_compile_reactnative_options", "target_compile_options", "not as React Native is compiled"),
    ],
)
def test_cmake_does_not_take_a_wrong_path_or_name(
    app: BareApp, configure: Callable[[], cmake_project.Configured], right: str, wrong: str, fault: str
) -> None:
    path = app.installed / "android" / "CMakeLists.txt"
    text = path.read_text(encoding="utf-8")
    assert right in text
    with changed(path, text.replace(right, wrong)):
        found = faults(configure(), app)
    assert any(fault in each for each in found), found


@pytest.mark.parametrize("name", ["autolinking.cpp", "PageOrientationCxx.cpp"])
def test_what_react_native_generates_compiles_with_the_module(
    app: BareApp, configure: Callable[[], cmake_project.Configured], name: str, tmp_path: Path
) -> None:
    fetched("android-zig")
    done = configure()
    made = tmp_path / "object.o"
    cmake_project.compile_with_clang(done, done.source(name), made)
    assert made.stat().st_size > 0


@pytest.mark.parametrize(
    ("right", "wrong", "words"),
    [
        ("PageOrientationCxx", "OrientationCxx", r"autolinking\.cpp:\d+:\d+: error: .*PageOrientationCxx"),
        ("std::shared_ptr<CallInvoker>", "int", r"(?s)error: no matching function.*PageOrientationCxx"),
    ],
)
def test_what_react_native_generates_does_not_compile_with_another_module(
    app: BareApp, configure: Callable[[], cmake_project.Configured], right: str, wrong: str, words: str, tmp_path: Path
) -> None:
    fetched("android-zig")
    path = app.installed / "cpp" / "include" / "PageOrientationCxx.h"
    text = path.read_text(encoding="utf-8")
    assert right in text
    done = configure()
    with changed(path, text.replace(right, wrong)), pytest.raises(ToolError, match=words):
        cmake_project.compile_with_clang(done, done.source("autolinking.cpp"), tmp_path / "object.o")


@pytest.fixture(scope="module")
def build_file(kotlin_compiler: None, app: BareApp) -> Path:
    fetched("groovy")
    return app.installed / "android" / "build.gradle"


def test_the_build_file_brings_models_and_lets_other_libraries_choose_a_later_runtime(
    app: BareApp, build_file: Path
) -> None:
    asked = groovy_build.evaluate(build_file)
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
    files = [path for folder in folders for path in (build_file.parent / folder).rglob("*.ort.tflite")]
    assert app.installed / MODEL in [path.resolve() for path in files]


def test_the_build_file_takes_versions_of_the_app_and_leaves_models_out(build_file: Path) -> None:
    asked = groovy_build.evaluate(
        build_file,
        property={"mobpack.PageOrientation.models": "none"},
        ext={"compileSdkVersion": 37, "ndkVersion": "27.1.12297006"},
        plugin={"kotlin": True},
    )
    assert ("android.compileSdk", "37") in asked
    assert ("android.ndkVersion", "27.1.12297006") in asked
    assert ("apply", "{plugin=org.jetbrains.kotlin.android}") not in asked
    assert "android.sourceSets.main.assets.srcDir" not in dict(asked)


def test_the_build_file_refuses_a_place_for_models_that_it_does_not_know(build_file: Path) -> None:
    with pytest.raises(ToolError, match="must be package, app or none, not nonsense"):
        groovy_build.evaluate(build_file, property={"mobpack.PageOrientation.models": "nonsense"})


def test_a_build_file_with_a_wrong_brace_does_not_pass(build_file: Path, tmp_path: Path) -> None:
    broken = tmp_path / "build.gradle"
    broken.write_text(build_file.read_text(encoding="utf-8") + "}\n", encoding="utf-8")
    with pytest.raises(ToolError, match="Unexpected input"):
        groovy_build.evaluate(broken)


def test_pod_install_generates_the_cpp_specification_and_no_objective_c(app: BareApp, tmp_path: Path) -> None:
    folder = codegen.for_ios(app.folder, tmp_path)
    assert "class JSI_EXPORT NativePageOrientationCxxCxxSpec" in (folder / "PageOrientationSpecJSI.h").read_text(
        "utf-8"
    )
    # Neither the C++ module, which registers itself, nor Android's is to have an Objective-C class.
    written = [path.read_text("utf-8") for path in folder.rglob("*.mm")]
    assert written
    assert not [text for text in written if "@protocol Native" in text or "PageOrientationFilesAndroid" in text]


@pytest.mark.parametrize("system", PLATFORMS)
def test_metro_bundles_the_readmes_example(app: BareApp, bundle: Callable[[str], Bundle], system: str) -> None:
    made = bundle(system)
    inside = [source.rpartition(f"/{app.package}/")[2] for source in made.sources if f"/{app.package}/" in source]
    assert inside.count("lib/index.js") == 1
    assert len(inside) == len(set(inside))
    assert all(path.startswith("lib/") for path in inside)
    assert not [path for path in inside if "web" in path or "onnxruntime" in path]
    assert made.script.read_text(encoding="utf-8").count(".get('PageOrientationCxx')") == 1
    assert not made.assets.exists() or not list(made.assets.rglob("*.ort.tflite"))


@pytest.mark.parametrize("system", PLATFORMS)
def test_hermes_compiles_the_bundle(bundle: Callable[[str], Bundle], system: str, tmp_path: Path) -> None:
    bytecode = tmp_path / "main.hbc"
    bare.hermes(bundle(system).script, bytecode)
    content = bytecode.read_bytes()
    assert content.startswith(bare.HERMES_MAGIC)
    assert b"PageOrientationCxx" in content


def test_hermes_refuses_what_is_no_javascript(tmp_path: Path) -> None:
    script = tmp_path / "main.jsbundle"
    script.write_text("let = = 1;\n", encoding="utf-8")
    with pytest.raises(ToolError, match="error"):
        bare.hermes(script, tmp_path / "main.hbc")


@pytest.fixture(scope="module")
def app_with_model(app: BareApp) -> BareApp:
    """An app that also requires a model of its own as an asset."""
    shutil.copyfile(app.installed / MODEL, app.folder / "own.ort")
    (app.folder / "model.js").write_text(WITH_MODEL, encoding="utf-8")
    return app


@pytest.mark.parametrize("system", PLATFORMS)
def test_metro_leaves_a_required_model_as_it_is(app_with_model: BareApp, system: str) -> None:
    asset = app_with_model.bundle(system, "model.js").asset("own.ort")
    assert sha256_of(asset) == sha256_of(app_with_model.installed / MODEL)


def test_metro_takes_no_model_without_the_readmes_settings(app_with_model: BareApp) -> None:
    defaults = "module.exports = require('@react-native/metro-config').getDefaultConfig(__dirname);\n"
    with (
        changed(app_with_model.folder / "metro.config.js", defaults),
        pytest.raises(AssertionError, match=r"own\.ort"),
    ):
        app_with_model.bundle("android", "model.js")


def test_metro_bundles_no_package_with_a_missing_module(app: BareApp) -> None:
    with (
        changed(app.installed / "lib" / "native.js", None),
        pytest.raises(AssertionError, match="Unable to resolve module"),
    ):
        app.bundle("ios")
