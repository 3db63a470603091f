"""Plug-in for pytest: files that take longest run first, so that the last minutes have short ones for every worker.

`durations.json` holds the seconds of each file that takes more than one. `--write-durations` renews it; files that did
not run, or of which passes were kept (`passes.py`), stay as they were.
"""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.passes import KEPT

FILE = Path(__file__).with_suffix(".json")


def known() -> Mapping[str, int]:
    """Name of a test file -> seconds."""
    found: Mapping[str, int] = json.loads(FILE.read_text(encoding="utf-8"))
    return found


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--write-durations", action="store_true", help=f"write {FILE.name} from this run")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Sorts files by their durations; the order within a file stays."""
    seconds = known()
    items.sort(key=lambda item: (-seconds.get(item.path.name, 0), item.path.name))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if not config.getoption("--write-durations"):
        return
    taken: dict[str, float] = {}
    kept: set[str] = set()
    for outcome, reports in terminalreporter.stats.items():
        for report in (each for each in reports if isinstance(each, pytest.TestReport)):
            name = Path(report.nodeid.partition("::")[0]).name
            taken[name] = taken.get(name, 0) + report.duration
            kept |= {name} if outcome == KEPT else set()
    measured = {name: seconds for name, seconds in taken.items() if name not in kept}
    FILE.write_text(json.dumps(renewed(known(), measured), indent=1) + "\n", encoding="utf-8")


def renewed(old: Mapping[str, float], measured: Mapping[str, float]) -> Mapping[str, int]:
    """Whole seconds of files that still exist and take more than one, the longest first."""
    both = {name: round(seconds) for name, seconds in {**old, **measured}.items() if FILE.with_name(name).is_file()}
    return dict(
        sorted(((name, value) for name, value in both.items() if value > 1), key=lambda each: (-each[1], each[0]))
    )
