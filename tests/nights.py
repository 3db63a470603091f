"""Plug-in for pytest: tests marked `nightly` run with `--nightly` alone, which `.ci/nightly` gives.

Each has a smaller test beside it that runs at every change; the mark's argument says which, or why none is needed.
Tests of random cases try `examples` of them.
"""

import os

import pytest

MARK = "nightly"
AT_NIGHT = "MOBPACK_TESTS_AT_NIGHT"
"""Variable that this plug-in sets for the modules of tests."""
SHARE = 3


def examples(at_night: int) -> int:
    """How many random cases a test tries: `at_night`, or a third of them at every change."""
    return at_night if os.environ.get(AT_NIGHT) else max(1, at_night // SHARE)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--nightly", action="store_true", help=f"run tests marked {MARK}, too")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", f"{MARK}(instead): slow; `instead` says what checks the same at every change")
    if config.getoption("--nightly"):
        os.environ[AT_NIGHT] = "1"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--nightly"):
        return
    left = [item for item in items if item.get_closest_marker(MARK)]
    config.hook.pytest_deselected(items=left)
    items[:] = [item for item in items if not item.get_closest_marker(MARK)]
