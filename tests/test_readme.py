"""Commands, options and files that the README and pages name exist; tests/test_snippets.py compiles their code."""

import re
from pathlib import Path

import pytest

from packager.cli import commands

pytestmark = pytest.mark.by_content("README.md", "docs", "scripts")

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("page", ["README.md", "docs/build.md", "docs/check.md", "docs/diff.md"])
def test_commands_and_options_of_a_page_exist(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    for line in re.findall(r"^    mobpack (\w+)", text, re.MULTILINE):
        assert line in commands.commands
    every = (commands, *commands.commands.values())
    options = {option for command in every for each in command.params for option in each.opts}
    assert set(re.findall(r"`(--[a-z-]+)", text)) <= options


def test_files_that_the_readme_points_to_exist() -> None:
    targets = [found.partition("#")[0] for found in re.findall(r"\]\(([^)]+)\)", README) if "://" not in found]
    scripts = re.findall(r"^    sh (\S+)", README, re.MULTILINE)
    assert targets
    assert scripts == ["scripts/quickstart", "scripts/test"]
    assert [target for target in (*targets, *scripts) if not (ROOT / target).exists()] == []
