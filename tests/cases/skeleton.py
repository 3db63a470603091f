"""Loads bytes that may be a model: any refusal is in words."""

import contextlib
import time
from pathlib import Path

from packager import models
from packager.core.errors import MobpackError


def refuse_or_load(path: Path) -> None:
    """Load a damaged file: anything but a Model or a MobpackError fails the test, and so does a long wait."""
    start = time.perf_counter()
    with contextlib.suppress(MobpackError):
        models.load(path, "m")
    assert time.perf_counter() - start < 60
