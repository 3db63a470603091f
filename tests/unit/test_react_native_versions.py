"""The documentation and the pins name the versions of React Native and Expo that tests use."""

import re
from pathlib import Path

from packager.files.processes import downloads
from tests.toolchain import node
from tests.toolchain.jsc import NEWEST
from tests.toolchain.react_native import expo

DOCS = Path(__file__).parents[2] / "docs" / "react-native.md"

ROW = re.compile(r"^\| (\d+\.\d+) +\| (\d+) +\|", re.MULTILINE)
"""React Native and Expo in the table of the documentation"""


def versions(project: str, expo_project: str) -> tuple[str, str]:
    """React Native's and Expo's, as the table writes them."""
    return node.version(project, "react-native").rpartition(".")[0], node.version(expo_project, "expo").split(".")[0]


def test_the_documentation_lists_tested_versions_and_the_oldest_is_tested() -> None:
    tested = [versions(expo.OLDEST, expo.OLDEST), versions(NEWEST, expo.NEWEST)]
    assert ROW.findall(DOCS.read_text(encoding="utf-8")) == tested
    oldest, _ = versions(expo.OLDEST, expo.OLDEST)
    assert downloads.pins()["react-native"]["oldest"] == f"{oldest}.0"
