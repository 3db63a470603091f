"""`mobpack xcode --project`: additions to an Xcode project, read back with pbxproj, and its unchanged parts."""

import difflib
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from packager.cli.xcode import xcode
from packager.core.errors import ConfigError, ToolError
from packager.workflows.xcode import XcodeFolders, app_target, find_package, read_project, wire, wiring, write_project
from packager.workflows.xcode.project import parsed
from tests.cases.onnx_text import linear, saved
from tests.cases.xcode_cases import APP, app_project, release
from tests.toolchain.require import require


@pytest.fixture(autouse=True)
def library() -> None:
    require(find_spec("pbxproj") is not None, "pbxproj is missing: pip install mobpack[test]")


PACKAGE = "dist/swift/page-orientation"


def wired(folder: Path, text: str = APP, app: str = "") -> Any:
    """The project after an edit, read again from its file."""
    path = folder / "Reader.xcodeproj"
    if not path.is_dir():
        app_project(folder, text)
        release(folder / "dist")
    edit(path, app)
    return read_project(path)


def edit(path: Path, app: str = "") -> bool:
    folder = path.parent
    layout = XcodeFolders(
        config=folder / "mobpack.toml", dist=folder / "dist", out=folder / "my scripts", source_root=folder
    )
    package = find_package(layout.dist, "page-orientation", layout.config)
    project = read_project(path)
    wire(project, app_target(project, app), wiring(layout, package))
    return write_project(project, path)


def only(project: Any, isa: str, **fields: str) -> Any:
    found = [
        each
        for each in project.objects.get_objects_in_section(isa)
        if all(each[name] == value for name, value in fields.items())
    ]
    assert len(found) == 1
    return found[0]


def test_a_target_of_the_script_comes_before_the_app_and_links_the_package(tmp_path: Path) -> None:
    project = wired(tmp_path)
    target = only(project, "PBXAggregateTarget", name="mobpack page-orientation")
    assert target.get_id() in project.objects[project.rootObject].targets
    [phase] = [project.objects[key] for key in target.buildPhases]
    assert phase.shellScript == "\"$SRCROOT\"/'my scripts/mobpack-build.sh'\n"
    assert phase.inputFileListPaths == ["$(SRCROOT)/my scripts/mobpack-inputs.xcfilelist"]
    assert phase.outputFileListPaths == ["$(SRCROOT)/my scripts/mobpack-outputs.xcfilelist"]
    settings = [each.buildSettings for each in project.objects.get_configurations_on_targets(target.name)]
    assert [each.ENABLE_USER_SCRIPT_SANDBOXING for each in settings] == ["NO", "NO"]
    # A target's phases begin after those of its dependencies have ended.
    project = wired(tmp_path)
    app, builder = only(project, "PBXNativeTarget", name="Reader"), only(project, "PBXAggregateTarget")
    [dependency] = [project.objects[key] for key in app.dependencies]
    assert dependency.target == builder.get_id()
    proxy = project.objects[dependency.targetProxy]
    assert (proxy.proxyType, proxy.remoteGlobalIDString) == ("1", builder.get_id())
    assert proxy.containerPortal == project.rootObject
    assert not [each for each in app.buildPhases if project.objects[each].isa == "PBXShellScriptBuildPhase"]
    app = only(project, "PBXNativeTarget", name="Reader")
    reference = only(project, "XCLocalSwiftPackageReference", relativePath=PACKAGE)
    assert project.objects[project.rootObject].packageReferences == [reference.get_id()]
    [product] = [project.objects[key] for key in app.packageProductDependencies]
    assert (product.productName, product.package) == ("PageOrientationKit", reference.get_id())
    [build_file] = [project.objects[key] for key in only(project, "PBXFrameworksBuildPhase").files]
    assert build_file.productRef == product.get_id()
    assert project.objectVersion == "60"


def test_what_was_there_stays_once(tmp_path: Path) -> None:
    file = Path("Reader.xcodeproj/project.pbxproj")
    wired(tmp_path / "a")
    first = (tmp_path / "a" / file).read_bytes()
    assert not edit(tmp_path / "a/Reader.xcodeproj")
    wired(tmp_path / "b")
    assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes() == first
    wired(tmp_path)
    text = (tmp_path / "Reader.xcodeproj/project.pbxproj").read_text(encoding="utf-8")
    changes = list(difflib.ndiff(APP.splitlines(), text.splitlines()))
    assert [line for line in changes if line.startswith("- ")] == ["- \tobjectVersion = 56;"]


def test_what_was_linked_in_xcode_is_not_linked_twice(tmp_path: Path) -> None:
    project = wired(tmp_path)
    file = tmp_path / "Reader.xcodeproj/project.pbxproj"
    text = file.read_text(encoding="utf-8")
    ours = {
        each.get_id(): each.isa for each in read_project(tmp_path / "Reader.xcodeproj").objects._objects_by_id.values()
    }
    for number, (identity, isa) in enumerate(sorted(ours.items())):
        if "SwiftPackage" in isa or isa == "PBXBuildFile":
            text = text.replace(identity, f"{number:024X}")  # ids as Xcode would have given them
    file.write_text(text, encoding="utf-8")
    project = wired(tmp_path)
    assert len(project.objects.get_objects_in_section("XCLocalSwiftPackageReference")) == 1
    assert len(project.objects.get_objects_in_section("XCSwiftPackageProductDependency")) == 1
    assert len(only(project, "PBXFrameworksBuildPhase").files) == 1


def test_a_target_can_be_named_and_gets_a_frameworks_phase_where_it_has_none(tmp_path: Path) -> None:
    project = wired(tmp_path, app="ReaderTests")
    tests = only(project, "PBXNativeTarget", name="ReaderTests")
    phases = [project.objects[key].isa for key in tests.buildPhases]
    assert phases == ["PBXSourcesBuildPhase", "PBXFrameworksBuildPhase"]
    assert len(tests.dependencies) == 2
    assert only(project, "PBXNativeTarget", name="Reader")["packageProductDependencies"] is None


def test_a_folder_that_is_no_project_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read") as caught:
        read_project(tmp_path)
    assert "App.xcodeproj" in caught.value.hint


def test_without_the_library_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pbxproj", None)
    with pytest.raises(ToolError, match="pbxproj, which edits Xcode projects, is not installed") as caught:
        read_project(app_project(tmp_path))
    assert caught.value.hint == "run: pip install 'mobpack[xcode]'"


def test_a_project_that_is_refused_leaves_no_script_behind(tmp_path: Path) -> None:
    app_project(tmp_path)
    release(tmp_path / "dist")
    saved(tmp_path / "m.onnx", linear())
    (tmp_path / "mobpack.toml").write_text('[package]\nname = "page-orientation"\n[model.m]\npath = "m.onnx"\n')
    options = ["--config", tmp_path / "mobpack.toml", "--project", tmp_path / "Reader.xcodeproj", "--app-target", "No"]
    with pytest.raises(ConfigError, match="no target 'No'"):
        xcode.main([str(option) for option in options], standalone_mode=False)
    assert list(tmp_path.glob("mobpack-*")) == []


def test_an_unknown_target_is_refused_with_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no target 'Raeder'") as caught:
        wired(tmp_path, app="Raeder")
    assert caught.value.hint == "did you mean 'Reader'?"
    with pytest.raises(ConfigError, match="2 applications") as caught:
        wired(tmp_path / "two", APP.replace("bundle.unit-test", "application"))
    assert caught.value.hint == "name one with --app-target: Reader, ReaderTests"


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda text: text[: len(text) // 2], "is damaged"),
        (lambda text: text.replace("rootObject = 8A1F0050", "rootObject = 8A1F0059"), "its root object is missing"),
        (lambda text: text.replace("isa = PBXGroup;", "isa PBXGroup;", 1), "is damaged"),
        (lambda text: "<<<<<<< HEAD\n" + text, "is damaged"),
        (lambda text: "", "is damaged"),
        (lambda text: text.replace("// !$*UTF8*$!\n", "// !\n"), "is not in Xcode's format"),
        (lambda text: text.replace('"Größe/', '"Gr\\U00f6\\U00dfe/'), "is not in Xcode's format"),
    ],
    ids=["cut", "root", "syntax", "merge", "empty", "start", "escapes"],
)
def test_a_damaged_project_is_refused_and_left(tmp_path: Path, damage: Callable[[str], str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        wired(tmp_path, damage(APP))
    assert (tmp_path / "Reader.xcodeproj/project.pbxproj").read_text(encoding="utf-8") == damage(APP)


def test_the_command_does_all_of_it_beside_the_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    project = app_project(tmp_path / "ios")
    release(tmp_path / "dist")
    saved(tmp_path / "m.onnx", linear())
    (tmp_path / "mobpack.toml").write_text('[package]\nname = "page-orientation"\n[model.m]\npath = "m.onnx"\n')
    monkeypatch.chdir(tmp_path)
    xcode.main(["--project", "ios/Reader.xcodeproj", "--out", "ios/build"], standalone_mode=False)
    assert "wrote ios/build/mobpack-build.sh" in capsys.readouterr().err
    xcode.main(["--project", "ios/Reader.xcodeproj", "--out", "ios/build"], standalone_mode=False)
    assert capsys.readouterr().err == "everything is up to date\n"
    inputs = (tmp_path / "ios/build/mobpack-inputs.xcfilelist").read_text()
    assert inputs == "$(SRCROOT)/../m.onnx\n$(SRCROOT)/../mobpack.toml\n"
    found = read_project(project)
    assert only(found, "XCLocalSwiftPackageReference").relativePath == f"../{PACKAGE}"
    assert only(found, "PBXShellScriptBuildPhase").shellScript == '"$SRCROOT"/build/mobpack-build.sh\n'


def test_a_project_of_xcode_16_keeps_its_format_and_its_folders(tmp_path: Path) -> None:
    """Its groups are folders, whose files the project does not name."""
    folders = (
        "/* Begin PBXFileSystemSynchronizedRootGroup section */\n"
        "\t\t8A1F00332B5D0C0100C0FFEE /* Reader */ = {\n"
        "\t\t\tisa = PBXFileSystemSynchronizedRootGroup;\n"
        "\t\t\tpath = Reader;\n"
        '\t\t\tsourceTree = "<group>";\n'
        "\t\t};\n"
        "/* End PBXFileSystemSynchronizedRootGroup section */\n\n"
    )
    newer = APP.replace("objectVersion = 56", "objectVersion = 77")
    newer = newer.replace("/* Begin PBXFrameworks", f"{folders}/* Begin PBXFrameworks")
    app = "\t\t\tname = Reader;\n\t\t\tproductName"
    group = "\t\t\tfileSystemSynchronizedGroups = (\n\t\t\t\t8A1F00332B5D0C0100C0FFEE /* Reader */,\n\t\t\t);\n"
    newer = newer.replace(app, f"{group}{app}")
    path = app_project(tmp_path, newer)
    before = parsed(newer, path)
    release(tmp_path / "dist")
    edit(path)
    after = parsed((path / "project.pbxproj").read_text(encoding="utf-8"), path)
    assert after["objectVersion"] == "77"
    changed = {key for key, fields in before["objects"].items() if after["objects"][key] != fields}
    isas = sorted(before["objects"][key]["isa"] for key in changed)
    assert isas == ["PBXFrameworksBuildPhase", "PBXNativeTarget", "PBXProject"]
    assert after["objects"]["8A1F00332B5D0C0100C0FFEE"]["path"] == "Reader"
    assert not edit(path)
