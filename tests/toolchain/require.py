"""Missing tools: a test that needs one is skipped on a laptop and fails in CI."""

import os

import pytest


def require(condition: bool, reason: str) -> None:
    """Skip the running test with `reason` unless `condition` holds; fail it if the variable CI is set."""
    if condition:
        return
    if os.environ.get("CI"):
        pytest.fail(f"{reason} (CI must have it)", pytrace=False)
    pytest.skip(reason)
