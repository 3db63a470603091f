"""Real pictures, texts and a voice, measured again on every platform: benchmarks/results/contract_table.md."""

from pathlib import Path

from tests.contract_table import page
from tests.contract_table.__main__ import measured


def test_every_platform_answers_what_the_page_says(tmp_path: Path) -> None:
    """The errors are those of one machine; their size is checked while they are measured."""
    found = measured(tmp_path)
    assert [each.words for each in found] == page.words(page.written())
