"""Files that appear complete or not at all: nobody guesses their names before, and killed processes leave none."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cases.atomic import write, write_files

HANGING = """
import sys, time
from pathlib import Path
from packager.files.atomic import atomic_file, atomic_files
if sys.argv[2] == "file":
    with atomic_file(Path(sys.argv[1], "out")) as file:
        file.write(b"half")
        file.flush()
        print("writing", flush=True)
        time.sleep(20)
with atomic_files(Path(sys.argv[1])) as folder:
    (folder / "out").write_bytes(b"half")
    print("writing", flush=True)
    time.sleep(20)
"""


@pytest.mark.parametrize("what", ["file", "folder"])
def test_a_killed_process_leaves_nothing_once_another_writes_there(tmp_path: Path, what: str) -> None:
    """Both a file and a folder of files; what a running process writes stays."""
    command = [sys.executable, "-c", HANGING, str(tmp_path), what]
    with (
        subprocess.Popen(command, stdout=subprocess.PIPE) as killed,
        subprocess.Popen(command, stdout=subprocess.PIPE) as running,
    ):
        for process in (killed, running):
            assert process.stdout
            assert process.stdout.readline() == b"writing\n"
        assert len(list(tmp_path.iterdir())) == 2
        killed.send_signal(signal.SIGKILL)
        killed.wait()
        for how in (write, write_files):
            how(tmp_path / "other")
        assert len([path for path in tmp_path.iterdir() if path.name != "other"]) == 1
        running.kill()
    write(tmp_path / "other")
    assert [path.name for path in tmp_path.iterdir()] == ["other"]
