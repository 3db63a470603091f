"""Plug-in for pytest: with `-m "not (a or b)"`, files whose tests are all marked `a` or `b` are not imported.

Each process of a test run imports all files that it collects: half of them have no unit test.
"""

import re
from collections.abc import Set
from pathlib import Path

import pytest

EXPRESSION = re.compile(r"not \((\w+(?: or \w+)*)\)")
OF_ALL = re.compile(r"^pytestmark = (\[\n(?: .*\n)*\]|.*$)", re.MULTILINE)
MARK = re.compile(r"pytest\.mark\.(\w+)")


def marks_of_all(text: str) -> Set[str]:
    """Marks of all tests of a module."""
    found = OF_ALL.search(text)
    return set(MARK.findall(found[1])) if found else set()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    wanted = EXPRESSION.fullmatch(config.option.markexpr)
    if not wanted or collection_path.suffix != ".py":
        return None
    left_out = set(wanted[1].split(" or "))
    return None if left_out.isdisjoint(marks_of_all(collection_path.read_text(encoding="utf-8"))) else True
