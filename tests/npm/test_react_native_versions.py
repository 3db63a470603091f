"""Packages in apps on the oldest React Native and Expo; all other tests use the newest of both."""

from pathlib import Path

import pytest

from tests.toolchain.react_native import bare, cmake_project, codegen, expo, gradle_plugin, native, packages
from tests.toolchain.react_native.expo import OLDEST
from tests.toolchain.require import fetched


def test_codegen_autolinking_and_cmake_take_the_package(
    kotlin_compiler: None, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    for pin in ("cmake", "ninja", "android-zig"):
        fetched(pin)
    app = bare.make(packages.several(tmp_path_factory), tmp_path / "app", OLDEST)
    config = app.config()
    podspec = bare.dependency(config, app.package, "ios")
    assert podspec is not None
    assert podspec["podspecPath"] == str(app.installed / "Models.podspec")
    generated = app.installed / "android" / "build" / "generated" / "source" / "codegen"
    codegen.for_android(app.installed, generated, project=OLDEST)

    done = cmake_project.configure(app, gradle_plugin.generate(config, tmp_path, project=OLDEST))

    assert done.returncode == 0, done.output
    assert all("c++20" in done.commands[source] for source in (app.installed / "cpp").glob("*.cpp"))
    for name in ("autolinking.cpp", "ModelsCxx.cpp"):
        assert cmake_project.complaints(done, done.source(name)) == ""


def test_models_run_and_memory_is_copied_where_nothing_tells_its_owner(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    app = native.build(packages.several(tmp_path_factory), tmp_path, OLDEST).app(tmp_path / "installed")
    for case in ("loads", "readsWhereInputsLie", "writesWhereOutputsLie", "filesInNativeMemory"):
        found = app.run(case, engine="lending", isLending=False)
        assert found is None or found["provider"] == "cpu", case


def test_expo_makes_both_native_projects_and_links_the_package(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    app = expo.make(packages.several(tmp_path_factory), tmp_path / "app", OLDEST)
    done = app.prebuild({"models": "app"})
    assert done.returncode == 0, done.output
    files = app.native_files()
    models = {path.rpartition("/")[2] for path in files if "/assets/mobpack/Models/" in path}
    assert "orientation.ort.tflite" in models
    assert b"mobpack.Models.models=app" in files["android/gradle.properties"]
    for system in bare.PLATFORMS:
        assert bare.dependency(app.linked(system), app.package, system) is not None
