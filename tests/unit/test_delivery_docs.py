"""docs/threats.md names every scenario, and docs/delivery.md computes what its formula says."""

import re
from pathlib import Path

from tests.cases.delivery_scenarios import SCENARIOS
from tests.cases.tuf_attacks import ATTACKS

DOCS = Path(__file__).parents[2] / "docs"
DEVICES, FILE_BYTES, OUT, REQUEST = 1_000_000, 20e6, 0.05, 0.40 / 1e6
POLLS, ANSWER_BYTES, SHARE, ASKED = 60, 800, 0.9, 7


def rows(page: str, first: str) -> list[list[str]]:
    """Cells of the table whose first head is `first`."""
    _, _, after = (DOCS / page).read_text(encoding="utf-8").partition(f"| {first} |")
    lines = after.split("\n\n", 1)[0].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_scenarios_are_named_by_attacks_or_as_others() -> None:
    named = {cells[0]: set(cells[-1].split("; ")) for cells in rows("threats.md", "attack")}
    expected: dict[str, set[str]] = {}
    for scenario in SCENARIOS:
        if scenario.attack:
            expected.setdefault(scenario.attack, set()).add(scenario.name)
    assert named == expected
    [others] = re.findall(r"^Tested as well: (.*)\.$", (DOCS / "threats.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert others.split("; ") == [scenario.name for scenario in SCENARIOS if not scenario.attack]
    assert len({scenario.name for scenario in SCENARIOS}) == len(SCENARIOS)
    attacks = sum(len(visit.scenarios) for visit in ATTACKS)
    assert f"`tests/cases/tuf_attacks.py` has {attacks} more" in (DOCS / "threats.md").read_text(encoding="utf-8")
    counts = f"| attacks on channels | {attacks} on the metadata of TUF, {len(SCENARIOS)} on what comes after it"
    assert counts in (DOCS / "validation.md").read_text(encoding="utf-8")


def test_the_conformance_suite_is_met_by_scenarios_that_there_are() -> None:
    known = {each.name for each in SCENARIOS} | {each.name for visit in ATTACKS for each in visit.scenarios}
    found = [cells[1].partition(": ECDSA")[0] for cells in rows("validation.md", "case of the suite")]
    named = {name for cell in found if not cell.startswith("none:") for name in cell.split("; ")}
    assert named <= known, named - known


def test_costs_are_those_of_the_formula() -> None:
    found = rows("delivery.md", "the model and its change")
    assert len(found) == 5
    for _, delta, traffic, cost in found:
        share = float(delta.removesuffix(" %")) / 100
        gigabytes = DEVICES * FILE_BYTES * (SHARE * share + 1 - SHARE) / 1e9
        polls = DEVICES * POLLS * ANSWER_BYTES / 1e9 * OUT
        price = gigabytes * OUT + polls + DEVICES * (POLLS + ASKED) * REQUEST
        assert (traffic, cost) == (f"{gigabytes:,.0f} GB", f"{price:,.0f} $")
