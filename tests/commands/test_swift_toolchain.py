"""Swift packages build and pass tests on Linux, and their sources compile for iOS; mistakes in them are found."""

import subprocess
import sys
from pathlib import Path

MAKE = """
import sys, time
from pathlib import Path
from tests.toolchain.debian_root import make_alone

def make(folder):
    with Path(sys.argv[2]).open("a") as log:
        log.write("made\\n")
    time.sleep(0.5)

make_alone(Path(sys.argv[1]), make)
"""


def test_two_processes_at_once_make_it_once(tmp_path: Path) -> None:
    folder, log = tmp_path / "made", tmp_path / "log"
    command = [sys.executable, "-c", MAKE, str(folder), str(log)]
    processes = [subprocess.Popen(command, cwd=Path(__file__).parents[2]) for _ in range(2)]
    assert [process.wait(timeout=60) for process in processes] == [0, 0]
    assert folder.is_dir()
    assert log.read_text(encoding="utf-8") == "made\n"
