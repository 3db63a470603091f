"""Web packages as they are written."""

import os
import re
import shutil
from pathlib import PurePosixPath

import pytest

from tests.golden.cases import COMPLETE, GOLDEN, WEB_CASES
from tests.unit.test_android_view import golden_difference

OF_NAMES_ALONE = ("lib/image.", "lib/index.", "lib/runtime/", "lib/site.")
"""Files that differ between packages by names alone."""


def reviewed(case: str) -> dict[PurePosixPath, str]:
    """The texts of a case; for all but COMPLETE, only files that differ in more than names."""
    printed = dict(WEB_CASES[case].sources().texts)
    if case == COMPLETE:
        return printed
    return {path: text for path, text in printed.items() if not str(path).startswith(OF_NAMES_ALONE)}


@pytest.mark.parametrize("case", WEB_CASES)
def test_generated_files_are_the_reviewed_ones(case: str) -> None:
    """UPDATE_GOLDEN=1 rewrites the golden tree; review the change like source."""
    folder, printed = GOLDEN / case / "web", reviewed(case)
    if os.environ.get("UPDATE_GOLDEN"):
        shutil.rmtree(folder, ignore_errors=True)
        for name, text in printed.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8", newline="\n")
    difference = golden_difference(folder, printed)
    assert not difference, f"run with UPDATE_GOLDEN=1 if this is meant:\n{difference}"


@pytest.mark.parametrize("case", WEB_CASES)
def test_no_line_of_a_generated_file_ends_in_a_blank_or_repeats_an_empty_line(case: str) -> None:
    for name, text in WEB_CASES[case].sources().texts.items():
        assert text.endswith("\n"), name
        assert not re.search(r"[ \t]\n|\n\n\n", text), name
