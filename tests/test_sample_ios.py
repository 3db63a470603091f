"""sample_apps/ios: the app compiles against the package that is built for it, and its project names what is there.

No Xcode is here: SwiftUI, UIKit, PhotosUI and AVFoundation are interfaces in `toolchain/apple_modules/` with what the
app uses.
"""

import json
import plistlib
import re
import tomllib
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import pytest

from packager.targets.ios.swift import module_name
from packager.workflows.xcode import app_target, read_project
from tests.test_swift_sources import FORMAT
from tests.toolchain import apple, vision
from tests.toolchain.require import require
from tests.toolchain.swift import swift

pytestmark = pytest.mark.by_content("sample_apps")

if TYPE_CHECKING:
    from pbxproj import XcodeProject

APP = Path(__file__).parents[1] / "sample_apps" / "ios"
PROJECT = APP / "Classify.xcodeproj"
SOURCES = APP / "Classify"
TRIPLE = "arm64-apple-ios16.0"
MODULE = "VisionModels"


@pytest.fixture(scope="module")
def project() -> "XcodeProject":
    require(find_spec("pbxproj") is not None, "pbxproj is missing: pip install mobpack[test]")
    return read_project(PROJECT)


@pytest.fixture(scope="module")
def package() -> Path:
    """The Swift package, where the app's project looks for it."""
    swift()
    return vision.root() / "sample_apps" / "vision" / "dist" / "swift" / "vision"


@pytest.fixture(scope="module")
def module(package: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the package's module, compiled for the oldest iOS that it runs on."""
    folder = tmp_path_factory.mktemp("module")
    sources = sorted((package / "Sources" / MODULE).glob("*.swift"))
    done = apple.compile_swift(MODULE, sources, folder, c_modules=headers(package), is_optimized=False)
    assert done.returncode == 0, done.output
    return folder


def headers(package: Path) -> dict[str, Path]:
    return {f"C{MODULE}": package / "Sources" / f"C{MODULE}" / "include"}


def compile_app(sources: Path, package: Path, module: Path, folder: Path) -> apple.Compiled:
    return apple.compile_swift(
        "Classify",
        sorted(sources.glob("*.swift")),
        folder,
        c_modules=headers(package),
        modules=[module],
        triple=TRIPLE,
        defines=(),
        is_optimized=False,
    )


@pytest.mark.swift
def test_the_app_compiles_for_iphones_without_a_warning(package: Path, module: Path, tmp_path: Path) -> None:
    done = compile_app(SOURCES, package, module, tmp_path)
    assert (done.returncode, done.output) == (0, "")


@pytest.mark.swift
@pytest.mark.parametrize(
    ("name", "old", "new", "words"),
    [
        ("Labeller.swift", ".classify(image)", ".detect(image)", "has no member 'detect'"),
        ("Labeller.swift", ".classify(image)", '.classify("image")', "no exact matches in call"),
        ("AnswerView.swift", "found.label", "found.name", "has no member 'name'"),
        ("Labeller.swift", "actor Labeller", "final class Labeller: Sendable", "is mutable"),
        ("Camera.swift", "Picture(pixels,", "Picture(sampleBuffer,", "cannot convert value of type"),
        ("Camera.swift", ", @unchecked Sendable", "", "Sendable"),
        ("ContentView.swift", "matching: .images", "matching: .sounds", "has no member 'sounds'"),
    ],
)
def test_a_mistake_in_the_app_does_not_compile(
    package: Path, module: Path, tmp_path: Path, name: str, old: str, new: str, words: str
) -> None:
    for file in SOURCES.glob("*.swift"):
        text = file.read_text(encoding="utf-8")
        assert file.name != name or old in text
        (tmp_path / file.name).write_text(text.replace(old, new) if file.name == name else text, encoding="utf-8")

    done = compile_app(tmp_path, package, module, tmp_path)

    assert done.returncode != 0
    assert words in done.output


@pytest.mark.swift
def test_its_files_are_laid_out_as_swift_format_does() -> None:
    done = swift().run(
        ["swift-format", "lint", "--strict", "--recursive", "--configuration", json.dumps(FORMAT), "Classify"], cwd=APP
    )
    assert (done.returncode, done.output) == (0, "")


@pytest.mark.swift
def test_the_project_takes_the_package_from_where_it_is_built(project: "XcodeProject", package: Path) -> None:
    manifest = (package / "Package.swift").read_text(encoding="utf-8")
    [product] = re.findall(r'\.library\(name: "(\w+)"', manifest)
    [oldest] = re.findall(r'\.iOS\("([\d.]+)"\)', manifest)
    assert linked(project) == [product]
    for settings in all_settings(project, "IPHONEOS_DEPLOYMENT_TARGET"):
        assert number(settings["IPHONEOS_DEPLOYMENT_TARGET"]) >= number(oldest)
        assert TRIPLE.endswith(f"ios{settings['IPHONEOS_DEPLOYMENT_TARGET']}")


def test_the_project_names_the_folder_that_mobpack_builds_the_package_in(project: "XcodeProject") -> None:
    with (APP.parent / "vision" / "mobpack.toml").open("rb") as file:
        name = tomllib.load(file)["package"]["name"]
    [reference] = project.objects.get_objects_in_section("XCLocalSwiftPackageReference")
    assert (APP / reference["relativePath"]).resolve() == APP.parent / "vision" / "dist" / "swift" / name
    assert linked(project) == [module_name(name)] == [MODULE]


def test_the_project_compiles_every_file_and_names_none_that_is_not_there(project: "XcodeProject") -> None:
    objects = project.objects
    files = {
        phase.isa: sorted(objects[objects[key]["fileRef"]]["path"] for key in phase["files"])
        for phase in (objects[key] for key in app_target(project, "")["buildPhases"])
        if phase.isa != "PBXFrameworksBuildPhase"
    }
    assert files == {
        "PBXSourcesBuildPhase": sorted(path.name for path in SOURCES.glob("*.swift")),
        "PBXResourcesBuildPhase": ["Assets.xcassets", "PrivacyInfo.xcprivacy"],
    }
    places = dict(in_groups(project, root(project)["mainGroup"], APP))
    assert set(places.values()) == {SOURCES / name for each in files.values() for name in each}
    assert all(path.exists() for path in places.values())


def test_every_id_of_the_project_is_of_something_in_it(project: "XcodeProject") -> None:
    text = (PROJECT / "project.pbxproj").read_text(encoding="utf-8")
    known = set(project.objects.get_keys())
    assert set(re.findall(r"\b[0-9A-F]{24}\b", text)) == known
    assert f"{project!r}\n" == text, "it is written as Xcode writes it"
    scheme = ElementTree.parse(PROJECT / "xcshareddata" / "xcschemes" / "Classify.xcscheme")
    named = {each.attrib["BlueprintIdentifier"] for each in scheme.iter("BuildableReference")}
    assert named == {app_target(project, "").get_id()}


def test_the_app_says_what_it_takes_pictures_for(project: "XcodeProject") -> None:
    [first, *others] = all_settings(project, "PRODUCT_BUNDLE_IDENTIFIER")
    assert others
    assert all(each == first for each in others), "Debug and Release"
    assert len(first["INFOPLIST_KEY_NSCameraUsageDescription"]) > 20
    assert first["GENERATE_INFOPLIST_FILE"] == "YES"
    assert not [key for key in first if "UsageDescription" in key and "Camera" not in key]
    privacy = plistlib.loads((SOURCES / "PrivacyInfo.xcprivacy").read_bytes())
    assert privacy["NSPrivacyTracking"] is False
    for folder in ("", "AppIcon.appiconset", "AccentColor.colorset"):
        assert json.loads((SOURCES / "Assets.xcassets" / folder / "Contents.json").read_text(encoding="utf-8"))["info"]


def test_the_readme_names_what_is_there() -> None:
    readme = (APP / "README.md").read_text(encoding="utf-8")
    assert "sh sample_apps/vision/make\n" in readme
    assert "open sample_apps/ios/Classify.xcodeproj\n" in readme
    assert (APP.parent / "vision" / "make").is_file()
    for name in re.findall(r"`(\w+\.swift)`", readme):
        assert (SOURCES / name).is_file(), name


def root(project: "XcodeProject") -> Any:
    return project.objects[project.rootObject]


def linked(project: "XcodeProject") -> list[str]:
    """Products of packages that the app is linked with."""
    objects, target = project.objects, app_target(project, "")
    [phase] = [objects[key] for key in target["buildPhases"] if objects[key].isa == "PBXFrameworksBuildPhase"]
    built = [objects[objects[key]["productRef"]]["productName"] for key in phase["files"]]
    assert built == [objects[key]["productName"] for key in target["packageProductDependencies"]]
    return built


def all_settings(project: "XcodeProject", having: str) -> list[dict[str, str]]:
    """The settings of the configurations that have a key."""
    found = [each["buildSettings"] for each in project.objects.get_objects_in_section("XCBuildConfiguration")]
    return [{key: each[key] for key in each.get_keys()} for each in found if having in each.get_keys()]


def in_groups(project: "XcodeProject", key: str, folder: Path) -> Iterator[tuple[str, Path]]:
    """Id and place of every file below a group that is not built."""
    each = project.objects[key]
    place = folder / each["path"] if "path" in each.get_keys() else folder
    if each.isa == "PBXGroup":
        for child in each["children"]:
            yield from in_groups(project, child, place)
    elif each["sourceTree"] == "<group>":
        yield key, place


def number(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))
