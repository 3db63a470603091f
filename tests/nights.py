"""Plug-in for pytest: tests marked `nightly` run with `--nightly` alone, which `.ci/nightly` gives.

Each has a smaller test beside it that runs at every change; the mark's argument says which, or why none is needed.
"""

import pytest

MARK = "nightly"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--nightly", action="store_true", help=f"run tests marked {MARK}, too")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", f"{MARK}(instead): slow; `instead` says what checks the same at every change")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--nightly"):
        return
    left = [item for item in items if item.get_closest_marker(MARK)]
    config.hook.pytest_deselected(items=left)
    items[:] = [item for item in items if not item.get_closest_marker(MARK)]
