"""The attacks of `benchmarks/abuse` for half a minute, and a planted fault that they find."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_what_is_attacked_for_half_a_minute_holds(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.abuse", "--short", "--keep", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count(" held  ") >= 14
