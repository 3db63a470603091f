"""Lines of JSON that programs of tests in Swift print, one for each thing that they have to say."""

import json
from typing import Any


def objects(output: str) -> list[dict[str, Any]]:
    """The lines of JSON that it printed."""
    return [json.loads(line) for line in output.splitlines() if line.startswith("{")]
