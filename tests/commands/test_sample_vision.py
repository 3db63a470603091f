"""sample_apps/vision: the command that its README names, and the network that it writes."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_commands_are_free_of_what_shellcheck_knows() -> None:
    commands = sorted((ROOT / "sample_apps").glob("*/make"))
    assert {path.parent.name for path in commands} == {"flutter", "ios", "notes", "vision", "web"}
    program: list[str | Path] = [Path(sys.executable).with_name("shellcheck"), "--exclude=SC1091", *commands]
    done = subprocess.run(program, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")
