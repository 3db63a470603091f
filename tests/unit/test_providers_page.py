"""benchmarks/results/providers.md is the output of its command."""

from benchmarks import providers
from tests.cases.providers_page import ASKED, PAGE


def test_the_page_has_every_model_with_every_provider() -> None:
    for subject in providers.SUBJECTS:
        for provider in ASKED:
            assert PAGE.count(f"\n| {subject.name} | {provider} | unfused ") == 1


def test_nothing_on_the_page_went_unexamined() -> None:
    """The page is written on a machine that has all environments."""
    assert "not examined" not in PAGE
