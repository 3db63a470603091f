"""Web packages as they are written."""

import re

import pytest

from tests.golden.cases import WEB_CASES
from tests.golden.trees import unreviewed


@pytest.mark.parametrize("case", WEB_CASES)
def test_generated_files_are_the_reviewed_ones(case: str) -> None:
    difference = unreviewed("web", case)
    assert not difference, f"run with UPDATE_GOLDEN=1 if this is meant:\n{difference}"
    for path, text in WEB_CASES[case].texts().items():
        assert text.endswith("\n"), path
        assert not re.search(r"[ \t]\n|\n\n\n", text), path
