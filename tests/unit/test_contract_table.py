"""Real pictures, texts and a voice, measured again on every platform: benchmarks/results/contract_table.md."""

import pytest

from tests.contract_table import page
from tests.contract_table.page import Row
from tests.contract_table.sides import Answer


def answer(*numbers: float, words: str = "cat") -> Answer:
    return Answer(words=words, numbers=numbers)


def test_a_side_that_says_something_else_or_is_too_far_off_is_refused() -> None:
    with pytest.raises(AssertionError, match="coffee"):
        page.difference("coffee", answer(0.5), answer(0.5, words="dog"))
    with pytest.raises(AssertionError, match="coffee"):
        page.difference("coffee", answer(0.5), answer(0.5, 0.5))
    assert page.difference("coffee", answer(0.2, 2.0), answer(0.2001, 2.0)) == pytest.approx(5e-5)
    with pytest.raises(AssertionError, match=r"coffee: 5\.0e-04 of the largest number"):
        page.difference("coffee", answer(0.2, 2.0), answer(0.201, 2.0))


def test_the_page_is_compared_without_the_differences_of_one_machine() -> None:
    row = Row(asked="a cat", answer="tabby, 0.500", differences=(1e-7, 0.0, 2.5e-6, 0.0, 3e-8, 0.0, 0.0))
    assert page.words(page.table([row])) == [row.words] == ["| a cat | tabby, 0.500 |"]
