"""Commands, options and files that README and pages name exist; tests/android/test_snippets.py compiles their code."""

import re
from pathlib import Path

import click
import pytest

from packager.cli import commands

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
FOLDERS = (ROOT / "docs", ROOT / "docs" / "guides")
PAGES = ["README.md", *sorted(path.relative_to(ROOT).as_posix() for each in FOLDERS for path in each.glob("*.md"))]
OF_OTHER_PROGRAMS = {
    "--access",  # npm publish
    "--gpus",  # docker run
    "--nightly",  # pytest, of this repository
    "--nthreads",  # dask worker
    "--refresh-dependencies",  # gradle
    "--require-hashes",  # pip
    "--short",  # this repository's tests
    "--type",  # gcloud firebase test android run
}


def options() -> set[str]:
    """All options of mobpack's commands, those of `mobpack device bench` and the like, too."""
    every: list[click.Command] = [commands]
    for each in every:
        every += each.commands.values() if isinstance(each, click.Group) else ()
    return {option for command in every for each in command.params for option in (*each.opts, *each.secondary_opts)}


@pytest.mark.parametrize("page", PAGES)
def test_commands_and_options_of_a_page_exist(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    for line in re.findall(r"^    mobpack (\w+)", text, re.MULTILINE):
        assert line in commands.commands
    assert set(re.findall(r"`(--[a-z-]+)", text)) - OF_OTHER_PROGRAMS <= options()


def test_files_that_the_readme_points_to_exist() -> None:
    targets = [found.partition("#")[0] for found in re.findall(r"\]\(([^)]+)\)", README) if "://" not in found]
    scripts = re.findall(r"^    sh (\S+)", README, re.MULTILINE)
    assert targets
    assert scripts == ["scripts/quickstart", "scripts/test"]
    assert [target for target in (*targets, *scripts) if not (ROOT / target).exists()] == []
