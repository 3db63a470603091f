"""Packages for every target: each of their files is the reviewed one."""

import re

import pytest

from packager.targets.kotlin.sources import RESOURCES_ROOT
from tests.golden.cases import FILES
from tests.golden.stored import GOLDEN
from tests.golden.trees import TREES, unreviewed

PACKAGES = [(target, case) for target, cases in TREES.items() if target != "web" for case in cases]


@pytest.mark.parametrize(("target", "case"), PACKAGES)
def test_generated_files_are_the_reviewed_ones(target: str, case: str) -> None:
    """Those of web packages: `test_web_target.py`."""
    difference = unreviewed(target, case)
    assert not difference, f"run with UPDATE_GOLDEN=1 if this is meant:\n{difference}"


def test_nothing_else_is_stored() -> None:
    known = {(case, f"{target}{end}") for target in TREES for case in TREES[target] for end in ("", ".diff")}
    found = {path.relative_to(GOLDEN).parts for path in GOLDEN.glob("[a-z]*/*")}
    assert {parts for parts in found if parts[0] != FILES.name} <= known


@pytest.mark.parametrize(("target", "case"), PACKAGES)
def test_no_line_of_a_generated_file_ends_in_a_blank_or_repeats_an_empty_line(target: str, case: str) -> None:
    for path, text in TREES[target][case].texts().items():
        assert text.endswith("\n"), path
        if path.is_relative_to(RESOURCES_ROOT):
            continue  # labels may be blank
        assert not re.search(r"[ \t]\n|\n\n\n" + "\n" * (path.suffix == ".py"), text), path
        if target == "android":
            assert not re.search(r"\{\n\n|\n\n *\}", text.replace("AutoCloseable {\n\n", "")), path
