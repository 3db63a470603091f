"""Tests of the night, and what takes their place at every change."""

import pytest

from tests.nights import AT_NIGHT, examples


def test_a_third_of_the_random_cases_is_tried_at_every_change(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(AT_NIGHT, raising=False)
    assert [examples(300), examples(2)] == [100, 1]
    monkeypatch.setenv(AT_NIGHT, "1")
    assert [examples(300), examples(2)] == [300, 2]
