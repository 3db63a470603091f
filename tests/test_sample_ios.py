"""sample_apps/ios: the app compiles against the packages that are built for it, and its project names what is there.

No Xcode is here: SwiftUI, UIKit, PhotosUI and AVFoundation are interfaces in `toolchain/apple_modules/` with what the
app uses.
"""

import json
import plistlib
import re
import shutil
import subprocess
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
from tests.toolchain import apple, sample_notes, swift_app
from tests.toolchain.require import require
from tests.toolchain.sample_package import NOTES, VISION
from tests.toolchain.swift import swift
from tests.toolchain.swift_stand_ins import with_crypto

pytestmark = pytest.mark.by_content("sample_apps", of=[NOTES, VISION], tools=True)

if TYPE_CHECKING:
    from pbxproj import XcodeProject

APP = Path(__file__).parents[1] / "sample_apps" / "ios"
PROJECT = APP / "Classify.xcodeproj"
SOURCES = APP / "Classify"
TRIPLE = "arm64-apple-ios16.0"
MODULES = {"VisionModels": VISION, "NotesKit": NOTES}
"""The modules of the packages that the app depends on."""


@pytest.fixture(scope="module")
def project() -> "XcodeProject":
    require(find_spec("pbxproj") is not None, "pbxproj is missing: pip install mobpack[test]")
    return read_project(PROJECT)


@pytest.fixture(scope="module")
def packages() -> dict[str, Path]:
    """The Swift packages by module, as `mobpack build` writes them."""
    swift()
    return {module: package.dist() / "swift" / package.name for module, package in MODULES.items()}


@pytest.fixture(scope="module")
def modules(packages: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return compile_modules(packages, tmp_path_factory)


def compile_modules(packages: dict[str, Path], factory: pytest.TempPathFactory) -> list[Path]:
    """The folders with the packages' modules, compiled for the oldest iOS that they run on."""
    folders = []
    for module, package in packages.items():
        folder = factory.mktemp(module)
        sources = sorted((package / "Sources" / module).glob("*.swift"))
        includes = headers({module: package})
        done = apple.compile_swift(module, sources, folder, c_modules=includes, is_checked_alone=True)
        assert done.returncode == 0, done.output
        folders.append(folder)
    return folders


def headers(packages: dict[str, Path]) -> dict[str, Path]:
    return {f"C{module}": package / "Sources" / f"C{module}" / "include" for module, package in packages.items()}


def compile_app(
    sources: Path, packages: dict[str, Path], modules: list[Path], folder: Path, *, defines: tuple[str, ...] = ()
) -> apple.Compiled:
    return apple.compile_swift(
        "Classify",
        sorted(sources.glob("*.swift")),
        folder,
        c_modules=headers(packages),
        modules=modules,
        triple=TRIPLE,
        defines=defines,
        is_checked_alone=True,
    )


@pytest.mark.swift
def test_the_app_compiles_for_iphones_without_a_warning(
    packages: dict[str, Path], modules: list[Path], tmp_path: Path
) -> None:
    done = compile_app(SOURCES, packages, modules, tmp_path)
    assert (done.returncode, done.output) == (0, "")


Mistake = tuple[str, str, str, str]
"""File, what stands there, what a mistake makes of it, the compiler's words for it."""
MISTAKES: tuple[tuple[Mistake, ...], ...] = (
    (
        ("Labeller.swift", ".classify(image)", ".detect(image)", "has no member 'detect'"),
        ("AnswerView.swift", "found.label", "found.name", "has no member 'name'"),
        ("Camera.swift", "Picture(pixels,", "Picture(sampleBuffer,", "cannot convert value of type"),
        ("NoteSearch.swift", "in: vectors", "in: notes", "cannot convert value of type"),
        ("NotesView.swift", "search.nearest(to: query)", "search.nearest(query)", "missing argument label 'to:'"),
        ("ContentView.swift", "matching: .images", "matching: .sounds", "has no member 'sounds'"),
    ),
    (
        ("Labeller.swift", ".classify(image)", '.classify("image")', "no exact matches in call"),
        ("Camera.swift", ", @unchecked Sendable", "", "Sendable"),
    ),
    (("Labeller.swift", "actor Labeller", "final class Labeller: Sendable", "is mutable"),),
)
"""The compiler meets all of a group at once."""


@pytest.mark.swift
@pytest.mark.parametrize("mistakes", MISTAKES)
def test_mistakes_in_the_app_do_not_compile(
    packages: dict[str, Path], modules: list[Path], tmp_path: Path, mistakes: tuple[Mistake, ...]
) -> None:
    shutil.copytree(SOURCES, tmp_path, dirs_exist_ok=True)
    for name, old, new, _ in mistakes:
        text = (tmp_path / name).read_text(encoding="utf-8")
        assert old in text
        (tmp_path / name).write_text(text.replace(old, new), encoding="utf-8")

    done = compile_app(tmp_path, packages, modules, tmp_path)

    assert done.returncode != 0
    errors = [line for line in done.output.splitlines() if ": error: " in line]
    for name, _, _, words in mistakes:
        assert any(f"/{name}:" in line and words in line for line in errors), (words, done.output)


@pytest.mark.swift
def test_its_files_are_laid_out_as_swift_format_does() -> None:
    done = swift().run(
        ["swift-format", "lint", "--strict", "--recursive", "--configuration", json.dumps(FORMAT), "Classify"], cwd=APP
    )
    assert (done.returncode, done.output) == (0, "")


@pytest.mark.swift
def test_the_project_links_the_packages_for_an_ios_that_they_run_on(
    project: "XcodeProject", packages: dict[str, Path]
) -> None:
    manifests = [(package / "Package.swift").read_text(encoding="utf-8") for package in packages.values()]
    products = [name for text in manifests for name in re.findall(r'\.library\(name: "(\w+)"', text)]
    assert linked(project) == products == list(packages)
    oldest = max(number(version) for text in manifests for version in re.findall(r'\.iOS\("([\d.]+)"\)', text))
    for settings in all_settings(project, "IPHONEOS_DEPLOYMENT_TARGET"):
        assert number(settings["IPHONEOS_DEPLOYMENT_TARGET"]) >= oldest
        assert TRIPLE.endswith(f"ios{settings['IPHONEOS_DEPLOYMENT_TARGET']}")


@pytest.mark.programs
def test_the_project_takes_the_packages_from_where_its_command_copies_them(
    project: "XcodeProject", tmp_path: Path
) -> None:
    app = tmp_path / "sample_apps" / "ios"
    app.mkdir(parents=True)
    shutil.copy(APP / "make", app)
    for package in MODULES.values():
        done = subprocess.run(["sh", "make"], cwd=app, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (1, f"run first: sh sample_apps/{package.name}/make\n")
        for name in (package.name, "onnxruntime-binary-9.9.9"):
            folder = tmp_path / package.folder / "dist" / "swift" / name
            folder.mkdir(parents=True)
            (folder / "Package.swift").touch()
    for _ in ("first", "again"):
        subprocess.run(["sh", "make"], cwd=app, check=True)
        copied = {path.parent.relative_to(app).as_posix() for path in app.rglob("Package.swift")}
        assert copied == {"packages/vision", "packages/notes", "packages/onnxruntime-binary-9.9.9"}
    references = project.objects.get_objects_in_section("XCLocalSwiftPackageReference")
    assert {reference["relativePath"] for reference in references} == {"packages/vision", "packages/notes"}
    for module, package in MODULES.items():
        with (APP.parent / package.name / "mobpack.toml").open("rb") as file:
            assert module_name(tomllib.load(file)["package"]["name"]) == module


@pytest.fixture(scope="module")
def searched(packages: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Reports of a program for Linux with the search's own file: it starts four times."""
    folder = tmp_path_factory.mktemp("search")
    shutil.copytree(packages["NotesKit"].parent, folder / "swift", ignore=shutil.ignore_patterns("*.zip"))
    sources = {"main.swift": swift_app.HOME / "notes.swift", "NoteSearch.swift": SOURCES / "NoteSearch.swift"}
    package = folder / "swift" / "notes"
    app = swift_app.build_in(package, "NotesKit", sources, lambda made: with_crypto(made, "NotesKit"))
    scratch = folder / "scratch"
    notes = str(sample_notes.FILE)
    done = app.run(notes, str(scratch / "vectors"), *sample_notes.QUERIES, scratch=scratch, mounts=(sample_notes.FILE,))
    assert done.returncode == 0, done.output
    return dict(line.split("\t") for line in done.output.splitlines())


@pytest.mark.swift
@pytest.mark.parametrize("query", sample_notes.QUERIES)
def test_the_search_finds_the_notes_that_the_original_model_finds(searched: dict[str, str], query: str) -> None:
    """In either start: with vectors just made, and with those of the file."""
    wanted = sample_notes.nearest(query)
    for start in ("first", "second"):
        titles, scores = searched[f"{start} {query}"].split(";")
        assert titles.split("|") == [title for title, _ in wanted]
        assert [float(score) for score in scores.split()] == pytest.approx([each for _, each in wanted], abs=1e-3)


@pytest.mark.swift
def test_the_search_makes_the_vector_of_a_note_once(searched: dict[str, str]) -> None:
    assert (searched["first runs"], searched["second runs"]) == ("40", "0")
    assert searched["added runs"] == "1", "of a note that is new"
    assert searched["damaged runs"] == "2", "of two, from a file that ends too early"


@pytest.mark.swift
def test_a_query_ends_the_search_for_the_one_before(searched: dict[str, str]) -> None:
    """Twenty at once: not all are answered, the last one is."""
    assert 1 <= int(searched["answers"]) < 20
    titles = [title for title, _ in sample_notes.nearest(sample_notes.QUERIES[0])]
    assert searched["last answer"].split(";")[0].split("|") == titles
    assert searched["blank"] == "0"


def test_its_notes_are_those_of_all_apps() -> None:
    assert (SOURCES / "notes.json").read_bytes() == sample_notes.FILE.read_bytes()


def test_the_project_compiles_every_file_and_names_none_that_is_not_there(project: "XcodeProject") -> None:
    objects = project.objects
    files = {
        phase.isa: sorted(objects[objects[key]["fileRef"]]["path"] for key in phase["files"])
        for phase in (objects[key] for key in app_target(project, "")["buildPhases"])
        if phase.isa != "PBXFrameworksBuildPhase"
    }
    assert files == {
        "PBXSourcesBuildPhase": sorted(path.name for path in SOURCES.glob("*.swift")),
        "PBXResourcesBuildPhase": ["Assets.xcassets", "PrivacyInfo.xcprivacy", "notes.json"],
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
    assert plistlib.loads((APP / first["INFOPLIST_FILE"]).read_bytes()) == {"ModelChannel": "$(MODEL_CHANNEL)"}
    privacy = plistlib.loads((SOURCES / "PrivacyInfo.xcprivacy").read_bytes())
    assert privacy["NSPrivacyTracking"] is False
    for folder in ("", "AppIcon.appiconset", "AccentColor.colorset"):
        assert json.loads((SOURCES / "Assets.xcassets" / folder / "Contents.json").read_text(encoding="utf-8"))["info"]


def test_the_app_takes_no_newer_models_unless_its_build_is_told_from_where(project: "XcodeProject") -> None:
    for settings in all_settings(project, "PRODUCT_BUNDLE_IDENTIFIER"):
        assert (settings["MODEL_UPDATES"], settings["MODEL_CHANNEL"]) == ("", "")
        assert settings["SWIFT_ACTIVE_COMPILATION_CONDITIONS"] == "$(inherited) $(MODEL_UPDATES)"


def test_the_readme_names_what_is_there() -> None:
    readme = (APP / "README.md").read_text(encoding="utf-8")
    assert "sh sample_apps/vision/make && sh sample_apps/notes/make && sh sample_apps/ios/make\n" in readme
    assert "open sample_apps/ios/Classify.xcodeproj\n" in readme
    assert all((APP.parent / package.name / "make").is_file() for package in MODULES.values())
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
