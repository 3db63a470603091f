"""Runs pytest on the arguments after the system."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
BEGIN = """
import sys
sys.path.append({root!r})
from tests.elsewhere import standins
standins.begin({system!r})
"""


def main() -> int:
    system, *arguments = sys.argv[1:]
    with tempfile.TemporaryDirectory() as scratch:
        Path(scratch, "sitecustomize.py").write_text(BEGIN.format(root=str(ROOT), system=system), encoding="utf-8")
        path = os.pathsep.join([scratch, *filter(None, [os.environ.get("PYTHONPATH")])])
        command = [sys.executable, "-m", "pytest", "-p", "tests.elsewhere.names", *arguments]
        return subprocess.run(command, env={**os.environ, "PYTHONPATH": path}, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
