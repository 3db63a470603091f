"""The matrix of models: a sample of its rows, another one each day, and what its page says of cells."""

import random
from datetime import UTC, datetime
from pathlib import Path

import pytest

from benchmarks.matrix import page
from benchmarks.matrix.__main__ import fill, kept
from benchmarks.matrix.cells import Cell, State
from benchmarks.matrix.rows import Row, in_turns, rows
from packager.core.errors import ToolError
from packager.importers import FRAMEWORKS
from tests.toolchain.importing import install
from tests.toolchain.require import require

DAY = datetime.now(UTC).toordinal()
SAMPLED = {"scikit-learn": 2, "boosters": 1}
"""family -> rows of a day: two cells each, of frameworks that start fast"""


def test_a_sample_of_the_rows_ships(tmp_path: Path) -> None:
    try:
        install(FRAMEWORKS["tabular"])
    except ToolError as error:
        require(False, f"{error.message} ({error.hint})")
    numbers = random.Random(DAY)
    for family, count in SAMPLED.items():
        for row in numbers.sample([each for each in rows() if each.family == family], count):
            fill(row, ["made", "packages"], tmp_path, limit_s=300)
            cells = kept(row, tmp_path)
            assert "made" in cells
            assert page.faults(row, cells) == [], (DAY, cells)


def cell(state: State, reason: str = "") -> Cell:
    return Cell(state=state, reason=reason, code="", date="2026-11-30")


@pytest.mark.parametrize(
    ("found", "is_fault"),
    [
        (cell("ok"), False),
        (cell("beyond tolerance", "12.0 dB"), False),
        (cell("refused", "the quantized variant is neither smaller (1 kB becomes 1 kB) nor faster (1 times)"), False),
        (cell("refused", "mobpack does not like it"), True),
        (cell("failed", "KeyError: 1"), True),
        (cell("wrong"), True),
    ],
)
def test_cells_without_a_reason_that_holds_are_faults(found: Cell, is_fault: bool) -> None:
    row = Row(family="timm", net="net", way="export")
    results = {row.name: {"made": cell("ok"), "int8": found}}
    assert bool(page.faults(row, results[row.name])) == is_fault
    assert (f"**timm/net**, static int8, {found.state}" in page.page([row], results)) == (found.state != "ok")


def test_families_take_turns() -> None:
    listed = [Row(family=family, net=net, way="import") for family in "ab" for net in "xy"]
    assert [each.name for each in in_turns(listed)] == ["a/x", "b/x", "a/y", "b/y"]
    names = [row.name for row in rows()]
    assert len(set(names)) == len(names) > 250
