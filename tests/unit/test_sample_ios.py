"""sample_apps/ios: the app compiles against the packages that are built for it, and its project names what is there.

No Xcode is here: SwiftUI, UIKit, PhotosUI and AVFoundation are interfaces in `toolchain/apple_modules/` with what the
app uses.
"""

import json
import plistlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from packager.workflows.xcode import app_target
from tests.cases.sample_ios import APP, MODULES, PROJECT, SOURCES, all_settings, project
from tests.toolchain import sample_notes

__all__ = ["project"]


if TYPE_CHECKING:
    from pbxproj import XcodeProject


def test_the_readme_and_notes_name_what_is_there_and_pictures_are_explained(project: "XcodeProject") -> None:
    assert (SOURCES / "notes.json").read_bytes() == sample_notes.FILE.read_bytes()
    readme = (APP / "README.md").read_text(encoding="utf-8")
    assert "sh sample_apps/vision/make && sh sample_apps/notes/make && sh sample_apps/ios/make\n" in readme
    assert "open sample_apps/ios/Classify.xcodeproj\n" in readme
    assert all((APP.parent / package.name / "make").is_file() for package in MODULES.values())
    for name in re.findall(r"`(\w+\.swift)`", readme):
        assert (SOURCES / name).is_file(), name
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
    for settings in all_settings(project, "PRODUCT_BUNDLE_IDENTIFIER"):
        assert (settings["MODEL_UPDATES"], settings["MODEL_CHANNEL"]) == ("", "")
        assert settings["SWIFT_ACTIVE_COMPILATION_CONDITIONS"] == "$(inherited) $(MODEL_UPDATES)"


def test_the_project_has_every_file_under_an_id(project: "XcodeProject") -> None:
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
    text = (PROJECT / "project.pbxproj").read_text(encoding="utf-8")
    known = set(project.objects.get_keys())
    assert set(re.findall(r"\b[0-9A-F]{24}\b", text)) == known
    assert f"{project!r}\n" == text, "it is written as Xcode writes it"
    scheme = ElementTree.parse(PROJECT / "xcshareddata" / "xcschemes" / "Classify.xcscheme")
    named = {each.attrib["BlueprintIdentifier"] for each in scheme.iter("BuildableReference")}
    assert named == {app_target(project, "").get_id()}


def root(project: "XcodeProject") -> Any:
    return project.objects[project.rootObject]


def in_groups(project: "XcodeProject", key: str, folder: Path) -> Iterator[tuple[str, Path]]:
    """Id and place of every file below a group that is not built."""
    each = project.objects[key]
    place = folder / each["path"] if "path" in each.get_keys() else folder
    if each.isa == "PBXGroup":
        for child in each["children"]:
            yield from in_groups(project, child, place)
    elif each["sourceTree"] == "<group>":
        yield key, place
