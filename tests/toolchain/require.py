"""Says what happens to a test whose tools are missing: it is skipped on a laptop and fails in CI."""

import os

import pytest


def require(condition: bool, reason: str) -> None:
    """Skips the running test with `reason` unless `condition` holds; where the variable CI is set, fails it."""
    if condition:
        return
    if os.environ.get("CI"):
        pytest.fail(f"{reason} (CI must have it)", pytrace=False)
    pytest.skip(reason)
