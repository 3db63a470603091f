"""`expo prebuild` places a generated package's models in native projects, sets what they need, and links it."""

import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from packager.files.hashes import sha256_of
from tests.toolchain import projects
from tests.toolchain.react_native import bare, expo, packages
from tests.toolchain.react_native.expo import ExpoApp

pytestmark = [pytest.mark.by_content(of=[projects.PAGES]), pytest.mark.react_native]
BUNDLE = "PageOrientationModels.bundle"
ASSETS = "android/app/src/main/assets/mobpack/PageOrientation"
PROPERTY = "mobpack.PageOrientation.models"
PICK_FIRSTS = "android.packagingOptions.pickFirsts"
PLACES = ("package", "app", "none")


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> ExpoApp:
    """An app on which the package of one model is installed; each test makes its native projects anew."""
    return expo.make(packages.page_orientation(tmp_path_factory), tmp_path_factory.mktemp("expo") / "app")


@pytest.fixture(scope="module")
def made(app: ExpoApp) -> Mapping[str, Mapping[str, bytes]]:
    """The files of both native projects, for each place that models may come from, and without options."""
    return {place or "default": prebuilt(app, {"models": place} if place else None) for place in (*PLACES, None)}


def prebuilt(app: ExpoApp, options: Mapping[str, object] | None, *, is_clean: bool = True) -> Mapping[str, bytes]:
    done = app.prebuild(options, is_clean=is_clean)
    assert done.returncode == 0, done.output
    return app.native_files()


def models(app: ExpoApp, system: str) -> dict[str, str]:
    """The package's files of models for a platform, with what is in them."""
    folders = [app.folder / "node_modules" / app.package / "models" / name for name in ("both", system)]
    return {path.name: sha256_of(path) for folder in folders for path in folder.rglob("*") if path.is_file()}


def placed(files: Mapping[str, bytes], folder: str) -> dict[str, str]:
    """Contents of the files in a folder of the native projects."""
    inside = {name: content for name, content in files.items() if name.startswith(f"{folder}/")}
    return {name.removeprefix(f"{folder}/"): hashlib.sha256(content).hexdigest() for name, content in inside.items()}


def properties(files: Mapping[str, bytes]) -> dict[str, str]:
    """android/gradle.properties; each key must appear once."""
    lines = [line for line in files["android/gradle.properties"].decode().splitlines() if re.match(r"[^#]+=", line)]
    pairs = [line.split("=", 1) for line in lines]
    assert len({key for key, _ in pairs}) == len(pairs)
    return {pair[0]: pair[1] for pair in pairs}


def podfile_properties(files: Mapping[str, bytes]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(files["ios/Podfile.properties.json"])
    return found


def test_copies_are_in_both_projects_as_they_are_in_the_package(
    app: ExpoApp, made: Mapping[str, Mapping[str, bytes]]
) -> None:
    files = made["app"]
    assert len(models(app, "android")) > 1
    assert placed(files, ASSETS) == models(app, "android")
    bundled = placed(files, f"ios/{expo.NAME}/{BUNDLE}")
    assert bundled.pop("Info.plist", "")
    assert bundled == models(app, "ios")


@pytest.mark.parametrize("place", ["package", "none", "default"])
def test_nothing_is_copied_where_models_come_from_elsewhere(
    made: Mapping[str, Mapping[str, bytes]], place: str
) -> None:
    assert not [name for name in made[place] if "mobpack" in name or BUNDLE in name]
    assert BUNDLE.encode() not in made[place][f"ios/{expo.NAME}.xcodeproj/project.pbxproj"]


def test_without_options_models_come_from_the_package(made: Mapping[str, Mapping[str, bytes]]) -> None:
    assert comparable(made["default"]) == comparable(made["package"])


def comparable(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Files without the identifiers that Expo draws at random: 24 hex digits."""
    return {name: re.sub(rb"\b[0-9A-F]{24}\b", b"", content) for name, content in files.items()}


@pytest.mark.parametrize(("place", "words"), [("package", None), ("app", "app"), ("none", "none"), ("default", None)])
def test_gradle_and_cocoapods_are_told_where_models_come_from(
    made: Mapping[str, Mapping[str, bytes]], place: str, words: str | None
) -> None:
    assert properties(made[place]).get(PROPERTY) == words
    assert podfile_properties(made[place]).get(PROPERTY) == words


@pytest.mark.parametrize("place", [*PLACES, "default"])
def test_gradle_takes_one_onnxruntime(made: Mapping[str, Mapping[str, bytes]], place: str) -> None:
    assert "**/libonnxruntime.so" in properties(made[place])[PICK_FIRSTS].split(",")


@pytest.mark.parametrize("place", [*PLACES, "default"])
def test_the_apps_own_gradle_file_is_left_alone(
    app: ExpoApp, made: Mapping[str, Mapping[str, bytes]], place: str
) -> None:
    """Android's build stores models as they are because of their names' end."""
    assert app.package.encode() not in made[place]["android/app/build.gradle"]
    assert {Path(name).suffix for name in models(app, "android")} <= {".tflite", ".safetensors"}


def test_the_xcode_project_copies_the_bundle_that_is_there(app: ExpoApp) -> None:
    prebuilt(app, {"models": "app"})
    project = app.folder / "ios" / f"{expo.NAME}.xcodeproj" / "project.pbxproj"
    assert copied_resources(project, BUNDLE) == [app.folder / "ios" / expo.NAME / BUNDLE]
    assert copied_resources(project, "Nothing.bundle") == []


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


@pytest.mark.parametrize("place", PLACES)
def test_a_second_run_changes_nothing(app: ExpoApp, place: str) -> None:
    first = prebuilt(app, {"models": place})
    assert prebuilt(app, {"models": place}, is_clean=False) == first


def test_another_option_takes_back_what_the_one_before_placed(
    app: ExpoApp, made: Mapping[str, Mapping[str, bytes]]
) -> None:
    prebuilt(app, {"models": "app"})
    assert comparable(prebuilt(app, {"models": "none"}, is_clean=False)) == comparable(made["none"])


def test_values_of_the_app_are_kept(app: ExpoApp) -> None:
    prebuilt(app, None)
    path = app.folder / "android" / "gradle.properties"
    text = path.read_text(encoding="utf-8").replace(f"{PICK_FIRSTS}=", f"{PICK_FIRSTS}=**/libother.so,")
    path.write_text(f"{text}\norg.example.own=1\n", encoding="utf-8")
    found = properties(prebuilt(app, {"models": "none"}, is_clean=False))
    assert found[PICK_FIRSTS].split(",") == ["**/libother.so", "**/libonnxruntime.so"]
    assert found["org.example.own"] == "1"


@pytest.mark.parametrize(
    ("options", "words"),
    [({"modles": "app"}, "'modles'.*'models'"), ({"models": "pakage"}, "did you mean 'package'")],
)
def test_options_that_are_not_known_are_refused_with_the_nearest_name(
    app: ExpoApp, options: Mapping[str, object], words: str
) -> None:
    done = app.prebuild(options)
    assert done.returncode != 0
    assert re.search(words, done.output)


def test_a_package_without_its_plugin_ends_prebuild(app: ExpoApp) -> None:
    plugin = app.folder / "node_modules" / app.package / "app.plugin.js"
    kept = plugin.rename(plugin.with_name("kept.js"))
    try:
        assert app.prebuild({"models": "app"}).returncode != 0
    finally:
        kept.rename(plugin)


def test_expo_links_the_package_on_both_platforms(app: ExpoApp) -> None:
    prebuilt(app, None)
    android = bare.dependency(app.linked("android"), app.package, "android")
    assert android is not None
    assert android["packageInstance"] == "new PageOrientationPackage()"
    assert android["cxxModuleHeaderName"] == "PageOrientationCxx"
    ios = bare.dependency(app.linked("ios"), app.package, "ios")
    assert ios is not None
    assert Path(ios["podspecPath"]).is_file()
    assert bare.dependency(app.linked("ios"), "react-native-other", "ios") is None
