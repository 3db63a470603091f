"""The project of sample_apps/ios, read."""

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from packager.workflows.xcode import read_project
from tests.toolchain.require import require
from tests.toolchain.sample_package import NOTES, VISION

if TYPE_CHECKING:
    from pbxproj import XcodeProject

APP = Path(__file__).parents[2] / "sample_apps" / "ios"

PROJECT = APP / "Classify.xcodeproj"

SOURCES = APP / "Classify"

MODULES = {"VisionModels": VISION, "NotesKit": NOTES}
"""The modules of the packages that the app depends on."""


@pytest.fixture(scope="module")
def project() -> "XcodeProject":
    require(find_spec("pbxproj") is not None, "pbxproj is missing: pip install mobpack[test]")
    return read_project(PROJECT)


def all_settings(project: "XcodeProject", having: str) -> list[dict[str, str]]:
    """The settings of the configurations that have a key."""
    found = [each["buildSettings"] for each in project.objects.get_objects_in_section("XCBuildConfiguration")]
    return [{key: each[key] for key in each.get_keys()} for each in found if having in each.get_keys()]
