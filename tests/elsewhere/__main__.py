"""Runs pytest on the arguments that follow the system's name."""

import os
import re
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

from packager.files.installed import PACKAGE
from tests.cases import hosts
from tests.elsewhere.plugin import SYSTEM

ROOT = Path(__file__).parents[2]
BEGIN = """
import sys
sys.path.append({root!r})
from tests.elsewhere import standins
standins.begin({system!r}, {known!r})
"""
"""A sitecustomize.py, which every Python runs when it starts."""
IMPORTED = re.compile(r"^ *(?:from|import) ([\w.]+)", re.MULTILINE)


def variables(system: str, scratch: Path) -> dict[str, str]:
    """The environment of a Python that runs as on `system`; writes a file to `scratch` for it."""
    text = BEGIN.format(root=str(ROOT), system=system, known=_known(system))
    (scratch / "sitecustomize.py").write_text(text, encoding="utf-8")
    path = os.pathsep.join([str(scratch), *filter(None, [os.environ.get("PYTHONPATH")])])
    kept = {name: value for name, value in os.environ.items() if name != "CI"}  # what Linux alone has is skipped
    return {**kept, "PYTHONPATH": path, SYSTEM: system}


@cache
def _known(system: str) -> dict[str, list[str] | None]:
    """Names that `system` lacks, of each module that mobpack imports: no process then has to read type stubs."""
    imported = (name for path in PACKAGE.rglob("*.py") for name in IMPORTED.findall(path.read_text(encoding="utf-8")))
    found = hosts.lacking(imported, system)
    return {name: names if names is None else sorted(names) for name, names in found.items()}


def main() -> int:
    system, *arguments = sys.argv[1:]
    if system not in hosts.OTHERS:
        sys.exit(f"the first argument is one of {', '.join(hosts.OTHERS)}, not {system}")
    with tempfile.TemporaryDirectory() as scratch:
        command = [sys.executable, "-m", "pytest", "-p", "tests.elsewhere.plugin", *arguments]
        return subprocess.run(command, env=variables(system, Path(scratch)), check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
