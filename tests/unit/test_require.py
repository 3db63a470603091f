"""A missing tool skips a test on a laptop and fails it in CI."""

import pytest

from tests.toolchain.require import require


def test_without_ci_a_missing_tool_skips_and_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)

    with pytest.raises(pytest.skip.Exception, match="no compiler"):
        require(False, "no compiler")


def test_in_ci_a_missing_tool_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")

    with pytest.raises(pytest.fail.Exception, match="no compiler"):
        require(False, "no compiler")


@pytest.mark.parametrize("ci", ["", "true"])
def test_a_tool_that_is_there_changes_nothing(monkeypatch: pytest.MonkeyPatch, ci: str) -> None:
    monkeypatch.setenv("CI", ci)

    require(True, "never said")
