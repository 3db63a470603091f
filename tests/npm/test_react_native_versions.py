"""Packages in apps on older versions of React Native and Expo; all other tests use the newest of both."""

from pathlib import Path

import pytest

from tests.cases.react_native_versions import project
from tests.toolchain import node
from tests.toolchain.react_native import bare, cmake_project, codegen, expo, gradle_plugin, native, packages
from tests.toolchain.react_native.bare import BareApp
from tests.toolchain.require import fetched

__all__ = ["project"]

TELLS_ITS_OWNER = 86
"""the first React Native, 0.86, whose ArrayBuffers tell who owns their memory"""


@pytest.fixture(scope="module")
def app(project: str, tmp_path_factory: pytest.TempPathFactory) -> BareApp:
    return bare.make(packages.several(tmp_path_factory), tmp_path_factory.mktemp("bare") / "app", project)


@pytest.fixture(scope="module")
def code(project: str, tmp_path_factory: pytest.TempPathFactory) -> native.Code:
    return native.build(packages.several(tmp_path_factory), tmp_path_factory.mktemp("native"), project)


def test_codegen_autolinking_and_cmake_take_the_package(
    kotlin_compiler: None, app: BareApp, project: str, tmp_path: Path
) -> None:
    for pin in ("cmake", "ninja", "android-zig"):
        fetched(pin)
    config = app.config()
    podspec = bare.dependency(config, app.package, "ios")
    assert podspec is not None
    assert podspec["podspecPath"] == str(app.installed / "Models.podspec")
    generated = app.installed / "android" / "build" / "generated" / "source" / "codegen"
    codegen.for_android(app.installed, generated, project=project)

    done = cmake_project.configure(app, gradle_plugin.generate(config, tmp_path, project=project))

    assert done.returncode == 0, done.output
    assert all("c++20" in done.commands[source] for source in (app.installed / "cpp").glob("*.cpp"))
    for name in ("autolinking.cpp", "ModelsCxx.cpp"):
        assert cmake_project.complaints(done, done.source(name)) == ""


@pytest.mark.parametrize("case", ["loads", "readsWhereInputsLie", "writesWhereOutputsLie", "filesInNativeMemory"])
def test_models_run_and_memory_is_copied_where_nothing_tells_its_owner(
    code: native.Code, project: str, tmp_path: Path, case: str
) -> None:
    minor = int(node.version(project, "react-native").split(".")[1])
    app = code.app(tmp_path / "installed")
    found = app.run(case, engine="lending", isLending=minor >= TELLS_ITS_OWNER)
    assert found is None or found["provider"] == "cpu"


def test_expo_makes_both_native_projects_and_links_the_package(
    project: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    app = expo.make(packages.several(tmp_path_factory), tmp_path_factory.mktemp("expo") / "app", project)
    done = app.prebuild({"models": "app"})
    assert done.returncode == 0, done.output
    models = {path.rpartition("/")[2] for path in app.native_files() if "/assets/mobpack/Models/" in path}
    assert "orientation.ort.tflite" in models
    assert b"mobpack.Models.models=app" in app.native_files()["android/gradle.properties"]
    for system in bare.PLATFORMS:
        assert bare.dependency(app.linked(system), app.package, system) is not None
