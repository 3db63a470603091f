"""Tests try more at night: `.ci/nightly` sets MOBPACK_TESTS_AT_NIGHT. Tests of the night alone are in tests/nightly."""

import os
from collections.abc import Sequence
from typing import TypeVar

Row = TypeVar("Row")
AT_NIGHT = bool(os.environ.get("MOBPACK_TESTS_AT_NIGHT"))
SHARE = 3


def examples(at_night: int) -> int:
    """Number of random cases that a test tries: `at_night`, or a third of them at every change."""
    return at_night if AT_NIGHT else max(1, at_night // SHARE)


def at_night(*rows: Row) -> Sequence[Row]:
    """Rows of a parametrized test that run at night alone."""
    return rows if AT_NIGHT else ()


def spread(rows: Sequence[Row], step: int) -> Sequence[Row]:
    """One row in `step` at every change, all at night: a table that says the same of another program's many cases."""
    return rows if AT_NIGHT else rows[::step]
