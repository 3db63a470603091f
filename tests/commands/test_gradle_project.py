"""The emitted Gradle project and its build; a fake `gradle` on PATH stands in for the real one."""

from pathlib import Path

import pytest

from packager.core.errors import ToolError
from packager.targets.android.gradle import build_with_gradle
from tests.cases.gradle_project import fake_gradle, write_gradle

__all__ = ["fake_gradle"]


def test_gradle_builds_the_release_aar(tmp_path: Path, fake_gradle: Path) -> None:
    built = build_with_gradle(tmp_path / "project")
    assert built == tmp_path / "project/build/outputs/aar/vision-release.aar"
    assert (tmp_path / "project/arguments").read_text().split()[-1] == ":assembleRelease"


def test_a_failing_gradle_build_shows_what_gradle_said(tmp_path: Path, fake_gradle: Path) -> None:
    write_gradle(fake_gradle, "echo 'Could not resolve com.android.tools.build:gradle' >&2; exit 1")
    with pytest.raises(ToolError, match=r"Could not resolve com\.android\.tools") as caught:
        build_with_gradle(tmp_path / "project")
    assert "--stacktrace" in caught.value.hint


def test_a_gradle_build_without_an_aar_is_an_error(tmp_path: Path, fake_gradle: Path) -> None:
    write_gradle(fake_gradle, "true")
    with pytest.raises(ToolError, match=r"no single -release\.aar in .*: found none"):
        build_with_gradle(tmp_path / "project")
