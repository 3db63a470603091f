"""Tests of generated packages that a fresh clone does not repeat, as `recorded.json` has the content that passed.

What these tests hand to other languages' compilers and programs has the same bytes on every machine: packages of test
models (`by_content(of=...)`), and golden trees (`by_content(recorded=True)`). `recorded.json` holds the content with
which all tests of such a file passed: the key of `passes.py` without the interpreter and the processor.
`--record` renews it after a run of whole files without a failure; it is for a commit. Tests whose content differs run,
and at night all do.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import pytest

RECORDED = "recorded"
"""Property of the report of a test that did not run, and the word for it in the summary."""
CONTENT = "content"
"""Property of the reports of tests that may be recorded: the content of all that their file reads."""
PASSED = ("", "passed", "kept", RECORDED)
"""Outcomes of tests that may be recorded; the first is that of fixtures."""


def recorded_in(root: Path) -> Path:
    return root / "tests" / "recorded.json"


def write(file: Path, content: Mapping[str, str]) -> None:
    file.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8", newline="\n")


def read(file: Path) -> Mapping[str, str]:
    """Name of a test file -> the content with which all of its tests passed."""
    if not file.is_file():
        return {}
    found: Mapping[str, str] = json.loads(file.read_text(encoding="utf-8"))
    return found


def reports_of(reporter: pytest.TerminalReporter) -> Mapping[str, Sequence[pytest.TestReport]]:
    """Those of the tests of a run, by their outcomes."""
    return {
        outcome: [each for each in found if isinstance(each, pytest.TestReport)]
        for outcome, found in reporter.stats.items()
    }


def file_of(report: pytest.TestReport) -> str:
    """Name of the test file."""
    return Path(report.nodeid.partition("::")[0]).name


def passes(reports: Mapping[str, Iterable[pytest.TestReport]]) -> Mapping[str, str | None]:
    """Name of each test file that may be recorded -> its content; None where a test was skipped or failed.

    `reports` are those of a run by their outcomes.
    """
    found: dict[str, str | None] = {}
    for outcome, each in reports.items():
        for report in each:
            content = dict(report.user_properties).get(CONTENT)
            if content is None:
                continue
            name = file_of(report)
            is_same = outcome in PASSED and found.get(name, content) == content
            found[name] = str(content) if is_same else None
    return found


def renewed(old: Mapping[str, str], seen: Mapping[str, str | None], files: Iterable[str]) -> Mapping[str, str]:
    """`old` with what was seen, without files of which a test was skipped, and those that are not in `files`."""
    both = {**old, **seen}
    return {name: content for name in sorted(both) if name in files and (content := both[name])}
