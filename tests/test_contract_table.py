"""Real pictures, texts and a voice, measured again on every platform: benchmarks/results/contract_table.md."""

from pathlib import Path

import pytest

from tests.contract_table import page
from tests.contract_table.__main__ import measured
from tests.contract_table.page import Row
from tests.contract_table.sides import Answer
from tests.toolchain.forks import forked
from tests.toolchain.sample_package import NOTES, VISION

__all__ = ["forked"]
pytestmark = pytest.mark.by_content("benchmarks", "docs", "sample_apps", of=[NOTES, VISION], tools=True)


@pytest.mark.kotlin
@pytest.mark.android
@pytest.mark.swift
@pytest.mark.react_native
def test_every_platform_answers_what_the_page_says(tmp_path: Path) -> None:
    """The errors are those of one machine; their size is checked while they are measured."""
    found = measured(tmp_path)
    assert [each.words for each in found] == page.words(page.written())
    assert max(max(each.differences) for each in found) <= page.MOST


def answer(*numbers: float, words: str = "cat") -> Answer:
    return Answer(words=words, numbers=numbers)


def test_a_side_that_says_something_else_is_refused() -> None:
    with pytest.raises(AssertionError, match="coffee"):
        page.difference("coffee", answer(0.5), answer(0.5, words="dog"))
    with pytest.raises(AssertionError, match="coffee"):
        page.difference("coffee", answer(0.5), answer(0.5, 0.5))


def test_a_side_that_is_too_far_off_is_refused() -> None:
    assert page.difference("coffee", answer(0.2, 2.0), answer(0.2001, 2.0)) == pytest.approx(5e-5)
    with pytest.raises(AssertionError, match=r"coffee: 5\.0e-04 of the largest number"):
        page.difference("coffee", answer(0.2, 2.0), answer(0.201, 2.0))


def test_the_page_is_compared_without_the_differences_of_one_machine() -> None:
    row = Row(asked="a cat", answer="tabby, 0.500", differences=(1e-7, 0.0, 2.5e-6, 0.0, 3e-8))
    assert page.words(page.table([row])) == [row.words] == ["| a cat | tabby, 0.500 |"]
