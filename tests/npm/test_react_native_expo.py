"""`expo prebuild` places a generated package's models in native projects, sets what they need, and links it."""

import hashlib
import json
import plistlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from packager.files.hashes import sha256_of
from tests.toolchain.react_native import bare, expo, packages
from tests.toolchain.react_native.expo import ExpoApp

BUNDLE = "PageOrientationModels.bundle"
ASSETS = "android/app/src/main/assets/mobpack/PageOrientation"
PROPERTY = "mobpack.PageOrientation.models"
PICK_FIRSTS = "android.packagingOptions.pickFirsts"
GRADLE_PROPERTIES = "android/gradle.properties"
PBXPROJ = f"ios/{expo.NAME}.xcodeproj/project.pbxproj"
Files = Mapping[str, bytes]
"""All files of both native projects, by path."""
RUNS: Mapping[str, tuple[Mapping[str, object] | None, bool]] = {
    "default": (None, True),
    "default again": (None, False),
    "app after default": ({"models": "app"}, False),
    "package after app": ({"models": "package"}, False),
    "app": ({"models": "app"}, True),
    "app again": ({"models": "app"}, False),
    "none after app": ({"models": "none"}, False),
}
"""Runs of `expo prebuild`, one after the other: the plugin's options, and whether the projects are made anew."""
PLACES = {"package": "package after app", "app": "app", "none": "none after app", "default": "default"}
"""Run after which models come from a place."""


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> ExpoApp:
    """An app on which the package of one model is installed."""
    return expo.make(packages.page_orientation(tmp_path_factory), tmp_path_factory.mktemp("expo") / "app")


@pytest.fixture(scope="module")
def made(app: ExpoApp) -> Mapping[str, Files]:
    """The files after each of RUNS."""
    return {name: prebuilt(app, options, is_clean=is_clean) for name, (options, is_clean) in RUNS.items()}


def prebuilt(app: ExpoApp, options: Mapping[str, object] | None, *, is_clean: bool = True) -> Files:
    done = app.prebuild(options, is_clean=is_clean)
    assert done.returncode == 0, done.output
    return app.native_files()


def models(app: ExpoApp, system: str) -> dict[str, str]:
    """The package's files of models for a platform, with what is in them."""
    folders = [app.folder / "node_modules" / app.package / "models" / name for name in ("both", system)]
    return {path.name: sha256_of(path) for folder in folders for path in folder.rglob("*") if path.is_file()}


def placed(files: Files, folder: str) -> dict[str, str]:
    """Contents of the files in a folder of the native projects."""
    inside = {name: content for name, content in files.items() if name.startswith(f"{folder}/")}
    return {name.removeprefix(f"{folder}/"): hashlib.sha256(content).hexdigest() for name, content in inside.items()}


def properties(files: Files) -> dict[str, str]:
    """android/gradle.properties; each key must appear once."""
    lines = [line for line in files[GRADLE_PROPERTIES].decode().splitlines() if re.match(r"[^#]+=", line)]
    pairs = [line.split("=", 1) for line in lines]
    assert len({key for key, _ in pairs}) == len(pairs)
    return {pair[0]: pair[1] for pair in pairs}


def podfile_properties(files: Files) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(files["ios/Podfile.properties.json"])
    return found


def test_copies_are_in_both_projects_as_they_are_in_the_package(app: ExpoApp, made: Mapping[str, Files]) -> None:
    files = made["app"]
    assert len(models(app, "android")) > 1
    assert placed(files, ASSETS) == models(app, "android")
    folder = f"ios/{expo.NAME}/{BUNDLE}"
    bundled = placed(files, folder)
    assert bundled.pop("Info.plist", "")
    assert bundled == models(app, "ios")
    info = plistlib.loads(files[f"{folder}/Info.plist"])
    assert (info["CFBundleName"], info["CFBundlePackageType"]) == ("PageOrientationModels", "BNDL")


def test_every_place_of_models_is_told_to_gradle_and_cocoapods_and_only_the_app_gets_copies(
    app: ExpoApp, made: Mapping[str, Files]
) -> None:
    """Android's build stores models as they are because of their names' end: the app's build file stays as it is."""
    assert {Path(name).suffix for name in models(app, "android")} <= {".tflite", ".safetensors"}
    for place, run in PLACES.items():
        files = made[run]
        told = place if place in ("app", "none") else None
        assert properties(files).get(PROPERTY) == podfile_properties(files).get(PROPERTY) == told, place
        assert properties(files)[PICK_FIRSTS] == "**/libonnxruntime.so", place
        assert app.package.encode() not in files["android/app/build.gradle"], place
        assert (b"PageOrientation" in files[PBXPROJ]) == (place == "app"), place
        assert any("mobpack" in name or BUNDLE in name for name in files) == (place == "app"), place


def test_the_xcode_project_copies_the_bundle_that_is_there(made: Mapping[str, Files], tmp_path: Path) -> None:
    for name, content in made["app"].items():
        if name == PBXPROJ or BUNDLE in name:
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_bytes(content)
    assert copied_resources(tmp_path / PBXPROJ, BUNDLE) == [tmp_path / "ios" / expo.NAME / BUNDLE]
    assert copied_resources(tmp_path / PBXPROJ, "Nothing.bundle") == []
    project = made["app"][PBXPROJ].decode()
    assert re.search(rf'isa = PBXFileReference;.* path = "{expo.NAME}/{BUNDLE}"', project)
    [phase] = re.findall(r"isa = PBXResourcesBuildPhase;.*?\};", project, re.DOTALL)
    assert phase.count(f"{BUNDLE} in Resources") == 1


def copied_resources(project: Path, name: str) -> list[Path]:
    """Paths of the target's resources of that name; each must exist."""
    from pbxproj import XcodeProject

    objects = XcodeProject.load(str(project)).objects
    phases = [phase for target in objects.get_targets(expo.NAME) for phase in target.buildPhases]
    resources = [objects[phase] for phase in phases if objects[phase].isa == "PBXResourcesBuildPhase"]
    files = [objects[objects[build].fileRef] for phase in resources for build in phase.files]
    named = [file for file in files if Path(file.path).name == name]
    found = [project.parents[1] / folder_of(objects, file.get_id()) / file.path for file in named]
    assert all(path.is_dir() for path in found), found
    return found


def folder_of(objects: Any, identifier: str) -> Path:
    """Path of the groups around a file, from the outermost; a file without a group is invalid."""
    groups = [group for group in objects.get_objects_in_section("PBXGroup") if identifier in group.children]
    root = objects.get_objects_in_section("PBXProject")[0].mainGroup
    assert groups or identifier == root, f"no group has {identifier}"
    if identifier == root:
        return Path()
    [group] = groups
    return folder_of(objects, group.get_id()) / (group["path"] or "" if "path" in group else "")


def test_a_second_run_changes_nothing_and_options_undo_what_earlier_ones_did(made: Mapping[str, Files]) -> None:
    assert made["default again"] == made["package after app"] == made["default"]
    assert made["app again"] == made["app"]
    assert comparable(made["app after default"]) == comparable(made["app"]) != comparable(made["default"])
    none, default = comparable(made["none after app"]), comparable(made["default"])
    differing = {name for name in {*none, *default} if none.get(name) != default.get(name)}
    assert differing == {GRADLE_PROPERTIES, "ios/Podfile.properties.json"}


def comparable(files: Files) -> dict[str, bytes]:
    """Files without the identifiers that Expo draws at random: 24 hex digits."""
    return {name: re.sub(rb"\b[0-9A-F]{24}\b", b"", content) for name, content in files.items()}


def test_expo_links_the_package_on_both_platforms(app: ExpoApp, made: Mapping[str, Files]) -> None:
    android = bare.dependency(app.linked("android"), app.package, "android")
    assert android is not None
    assert android["packageInstance"] == "new PageOrientationPackage()"
    assert android["cxxModuleHeaderName"] == "PageOrientationCxx"
    config = app.linked("ios")
    ios = bare.dependency(config, app.package, "ios")
    assert ios is not None
    assert Path(ios["podspecPath"]).is_file()
    assert bare.dependency(config, "react-native-other", "ios") is None


def test_values_of_the_app_are_kept(app: ExpoApp, made: Mapping[str, Files]) -> None:
    assert made
    path = app.folder / GRADLE_PROPERTIES
    text, count = re.subn(
        rf"(?m)^{re.escape(PICK_FIRSTS)}=.*$",
        f"{PICK_FIRSTS}=**/libown.so, **/libother.so",
        path.read_text(encoding="utf-8"),
    )
    assert count == 1
    path.write_text(f"{text}\norg.example.own=1\n", encoding="utf-8")
    files = prebuilt(app, {"models": "none"}, is_clean=False)
    found = properties(files)
    assert found[PICK_FIRSTS] == "**/libown.so,**/libother.so,**/libonnxruntime.so"
    assert found["org.example.own"] == "1"
    assert prebuilt(app, {"models": "none"}, is_clean=False) == files


def test_a_mistake_in_the_options_ends_prebuild(app: ExpoApp) -> None:
    """The words for each mistake: tests/npm/test_react_native_plugin.py."""
    done = app.prebuild({"modles": "app"})
    assert done.returncode != 0
    assert f"{app.package}: the config plugin has no option 'modles', did you mean 'models'?" in done.output
