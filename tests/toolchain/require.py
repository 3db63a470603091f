"""Missing tools: a test that needs one is skipped on a laptop and fails in CI."""

import os
from pathlib import Path

import pytest

from packager.core.errors import ToolError
from packager.files.processes import downloads


def require(condition: bool, reason: str) -> None:
    """Skip the running test with `reason` unless `condition` holds; fail it if the variable CI is set."""
    if condition:
        return
    if os.environ.get("CI"):
        pytest.fail(f"{reason} (CI must have it)", pytrace=False)
    pytest.skip(reason)


def fetched(pin: str) -> Path:
    """The pinned file, or the end of the test where it is not available."""
    try:
        return downloads.fetch(pin)
    except ToolError as error:
        require(False, f"{error.message} ({error.hint})")
        raise
