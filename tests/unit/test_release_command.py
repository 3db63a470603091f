"""`mobpack release`: one command from a project to registries, which stops where something is wrong and continues."""

from dataclasses import replace

import pytest

from packager.config.editing import with_version
from packager.core.errors import ConfigError
from packager.distribution.differences import changelog
from packager.distribution.differences.values import Bump, Change, Comparison, Level
from tests.cases.cli import mobpack

__all__ = ["mobpack"]

DAY = "2026-11-25"

SAME = Bump(old="1.0.0", new="1.0.0", is_enough=True, needed="1.0.0", sentence="both are 1.0.0")


def comparison(*changes: Change) -> Comparison:
    verdict = changes[0].level if changes else Level.NONE
    return Comparison(verdict=verdict, bump=SAME, changes=changes, not_compared=())


def change(level: Level, text: str) -> Change:
    return Change(level=level, where="ios", change=text, reason="apps use it")


def test_an_entry_takes_what_was_unreleased_in_the_form_of_its_changelog() -> None:
    text = "# Changelog\n\nAll versions.\n\n## Unreleased\n\n- By hand.\n\n## 1.0.0 - 2026-01-01\n\nFirst release.\n"
    warning = replace(change(Level.PATCH, "new warning: no licence"), is_internal=True)
    found = comparison(change(Level.MAJOR, "label gone"), change(Level.PATCH, "larger file"), warning)
    assert changelog.with_entry(text, "2.0.0", DAY, found) == (
        "# Changelog\n\nAll versions.\n\n## 2.0.0 - 2026-11-25\n\n- By hand.\n\n### Breaking changes\n\n"
        "- ios: label gone\n\n### Other changes\n\n- ios: larger file\n\n## 1.0.0 - 2026-01-01\n\nFirst release.\n"
    )
    made = changelog.with_entry("", "1.0.0", DAY, None)
    assert made == "# Changelog\n\n## 1.0.0 - 2026-11-25\n\nFirst release.\n"
    assert changelog.has_entry(made, "1.0.0")
    assert not changelog.has_entry(made, "1.0")
    assert changelog.with_entry(made, "1.0.1", DAY, comparison()).startswith(
        "# Changelog\n\n## 1.0.1 - 2026-11-25\n\nThe packages are as they were.\n\n## 1.0.0"
    )
    made = changelog.with_entry("# Changelog\r\n\r\n## Unreleased\r\n\r\n- By hand.\r\n", "1.0.0", DAY, None)
    assert made == "# Changelog\r\n\r\n## 1.0.0 - 2026-11-25\r\n\r\n- By hand.\r\n\r\nFirst release.\r\n"
    assert changelog.has_entry("# Changelog\n\n## [1.2.0] - 2026-01-01\n", "1.2.0")


def test_a_version_is_raised_and_all_else_stays() -> None:
    for text, made in [
        (
            '# mine\n[package]\nname = "a"  # its name\nversion = \'1.0.0\' # now\n[model.a]\nversion = "x"\n',
            '# mine\n[package]\nname = "a"  # its name\nversion = "2.0.0" # now\n[model.a]\nversion = "x"\n',
        ),
        ('[package]\nname = "a"\n', '[package]\nversion = "2.0.0"\nname = "a"\n'),
        ('[package]\r\nname = "a"\r\n', '[package]\r\nversion = "2.0.0"\r\nname = "a"\r\n'),
        ('[ package ] # mine\nname = "a"', '[ package ] # mine\nversion = "2.0.0"\nname = "a"'),
    ]:
        assert with_version(text, "2.0.0") == made


@pytest.mark.parametrize(
    "text",
    [
        'package = {name = "a", version = "1.0.0"}\n',
        'package.name = "a"\n',
        "[package\n",
        "",
        '[package]\nversion = """\n1.0.0"""\n',
    ],
)
def test_a_table_in_another_form_is_left_to_its_author(text: str) -> None:
    with pytest.raises(ConfigError, match="unusual form"):
        with_version(text, "2.0.0")
