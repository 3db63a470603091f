"""sample_apps/ios: the app compiles against the packages that are built for it, and its project names what is there.

No Xcode is here: SwiftUI, UIKit, PhotosUI and AVFoundation are interfaces in `toolchain/apple_modules/` with what the
app uses.
"""

import json
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from packager.workflows.xcode import app_target
from tests.cases.sample_ios import APP, MODULES, SOURCES, all_settings, project
from tests.swift.test_swift_sources import FORMAT
from tests.toolchain import apple, sample_notes, swift_app
from tests.toolchain.swift import swift
from tests.toolchain.swift_stand_ins import with_crypto

__all__ = ["project"]


if TYPE_CHECKING:
    from pbxproj import XcodeProject

TRIPLE = "arm64-apple-ios16.0"


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


def test_the_app_compiles_for_iphones_without_a_warning(
    packages: dict[str, Path], modules: list[Path], tmp_path: Path
) -> None:
    done = compile_app(SOURCES, packages, modules, tmp_path)
    assert (done.returncode, done.output) == (0, "")


def test_its_files_are_laid_out_as_swift_format_does() -> None:
    done = swift().run(
        ["swift-format", "lint", "--strict", "--recursive", "--configuration", json.dumps(FORMAT), "Classify"], cwd=APP
    )
    assert (done.returncode, done.output) == (0, "")


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


@pytest.mark.parametrize("query", sample_notes.QUERIES)
def test_the_search_finds_the_notes_that_the_original_model_finds(searched: dict[str, str], query: str) -> None:
    """In either start: with vectors just made, and with those of the file."""
    wanted = sample_notes.nearest(query)
    for start in ("first", "second"):
        titles, scores = searched[f"{start} {query}"].split(";")
        assert titles.split("|") == [title for title, _ in wanted]
        assert [float(score) for score in scores.split()] == pytest.approx([each for _, each in wanted], abs=1e-3)


def test_the_search_makes_the_vector_of_a_note_once(searched: dict[str, str]) -> None:
    assert (searched["first runs"], searched["second runs"]) == ("40", "0")
    assert searched["added runs"] == "1", "of a note that is new"
    assert searched["damaged runs"] == "2", "of two, from a file that ends too early"


def test_a_query_ends_the_search_for_the_one_before(searched: dict[str, str]) -> None:
    """Twenty at once: not all are answered, the last one is."""
    assert 1 <= int(searched["answers"]) < 20
    titles = [title for title, _ in sample_notes.nearest(sample_notes.QUERIES[0])]
    assert searched["last answer"].split(";")[0].split("|") == titles
    assert searched["blank"] == "0"


def linked(project: "XcodeProject") -> list[str]:
    """Products of packages that the app is linked with."""
    objects, target = project.objects, app_target(project, "")
    [phase] = [objects[key] for key in target["buildPhases"] if objects[key].isa == "PBXFrameworksBuildPhase"]
    built = [objects[objects[key]["productRef"]]["productName"] for key in phase["files"]]
    assert built == [objects[key]["productName"] for key in target["packageProductDependencies"]]
    return built


def number(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))
