"""The machine that a lock was made on: other systems have other wheels."""

import os
import platform
import sys
from collections.abc import Mapping

from packager.distribution.locking.lock import Facts
from packager.files.processes import children

VARIABLES = "ORT_"
"""First letters of environment variables that change what ONNX Runtime does. Their values are written to the lock: no
secret has such a name."""
OWN = children.QUIET
"""mobpack sets these itself, whatever they are."""


def machine() -> Mapping[str, Facts]:
    """System, processor, Python, and environment variables that change the bytes of packages."""
    known = {
        "system": sys.platform,
        "processor": platform.machine(),
        "python": f"{sys.implementation.name} {platform.python_version()}",
        **{f"variable {name}": text for name, text in os.environ.items() if _counts(name)},
    }
    return {name: {"value": value} for name, value in sorted(known.items())}


def _counts(name: str) -> bool:
    return name.startswith(VARIABLES) and name not in OWN
