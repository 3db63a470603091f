"""Packages in apps on older versions of React Native and Expo; all other tests use the newest of both."""

import re
from pathlib import Path

from packager.files.processes import downloads
from tests.cases.react_native_versions import OLDER, project
from tests.toolchain import node
from tests.toolchain.jsc import NEWEST
from tests.toolchain.react_native import expo

__all__ = ["project"]

DOCS = Path(__file__).parents[2] / "docs" / "react-native.md"

ROW = re.compile(r"^\| (\d+\.\d+) +\| (\d+) +\|", re.MULTILINE)
"""React Native and Expo in the table of the documentation"""


def versions(project: str, expo_project: str) -> tuple[str, str]:
    """React Native's and Expo's, as the table writes them."""
    return node.version(project, "react-native").rpartition(".")[0], node.version(expo_project, "expo").split(".")[0]


def test_the_documentation_lists_the_versions_that_are_tested() -> None:
    tested = [versions(each, each) for each in OLDER] + [versions(NEWEST, expo.NEWEST)]
    assert ROW.findall(DOCS.read_text(encoding="utf-8")) == tested


def test_the_oldest_version_that_packages_take_is_tested() -> None:
    oldest, _ = versions(OLDER[0], OLDER[0])
    assert downloads.pins()["react-native"]["oldest"] == f"{oldest}.0"
