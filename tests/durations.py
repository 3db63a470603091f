"""Plug-in for pytest: files that take longest run first, so that the last minutes have short ones for every worker.

`durations.json` holds the seconds of each file, one at least. `--write-durations` renews it; files that did not run, or
of which passes were known (`passes.py`), stay as they were. Files that it lacks run among the first.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import pytest

from tests.passes import KEPT
from tests.recorded import RECORDED, file_of, reports_of

FILE = Path(__file__).with_suffix(".json")
UNKNOWN_S = 100
"""Seconds of a file that was not measured: a long one among the last keeps one worker busy, and all others wait."""


def known() -> Mapping[str, int]:
    """Name of a test file -> seconds."""
    found: Mapping[str, int] = json.loads(FILE.read_text(encoding="utf-8"))
    return found


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--write-durations", action="store_true", help=f"write {FILE.name} from this run")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Sorts files by their durations; the order within a file stays."""
    places = {name: place for place, name in enumerate(in_order({item.path.name for item in items}, known()))}
    items.sort(key=lambda item: places[item.path.name])


def in_order(names: Iterable[str], seconds: Mapping[str, int]) -> Sequence[str]:
    """Names of files, the longest first."""
    return sorted(names, key=lambda name: (-seconds.get(name, UNKNOWN_S), name))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if not config.getoption("--write-durations"):
        return
    taken: dict[str, float] = {}
    kept: set[str] = set()
    for outcome, reports in reports_of(terminalreporter).items():
        for name, report in ((file_of(each), each) for each in reports):
            taken[name] = taken.get(name, 0) + report.duration
            kept |= {name} if outcome in (KEPT, RECORDED) else set()
    measured = {name: seconds for name, seconds in taken.items() if name not in kept}
    FILE.write_text(json.dumps(renewed(known(), measured), indent=1) + "\n", encoding="utf-8")


def renewed(old: Mapping[str, float], measured: Mapping[str, float]) -> Mapping[str, int]:
    """Whole seconds of files that still exist, the longest first."""
    both = {**old, **measured}
    found = {name: max(1, round(both[name])) for name in both if FILE.with_name(name).is_file()}
    return {name: found[name] for name in in_order(found, found)}
