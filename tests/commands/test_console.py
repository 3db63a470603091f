"""Messages about steps: what a terminal shows, and what a file gets, without the time that it takes to load rich."""

import subprocess
import sys

STEPS = """
import sys
from packager.core.console import Console
console = Console()
with console.step("load"):
    pass
with console.progress("calibrate") as advance:
    advance(1, 2)
sys.exit("rich" in sys.modules)
"""


def test_steps_without_a_terminal_do_not_load_rich() -> None:
    done = subprocess.run([sys.executable, "-c", STEPS], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "  ✓ load 0.0 s\n  ✓ calibrate 0.0 s\n")
