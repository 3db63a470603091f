"""Results by content: made once, whole or absent, whatever happens at the same time."""

import subprocess
import sys
from pathlib import Path

import pytest

from packager.core.errors import ToolError
from tests.cases.disks import tiny_disk
from tests.cases.onnx_text import compiled, linear
from tests.cases.store import files, put

WRITER = """
import os, sys, time
from pathlib import Path
from packager.files.store import Step, Store

STEP = Step(name="step", caller="packager.core.errors")

def make(folder):
    (folder / "one").write_text("1")
    {middle}
    (folder / "two").write_text("2")

print(Store(Path(sys.argv[1])).results(STEP, ["inputs"], make))
"""


def writer(root: Path, middle: str) -> "subprocess.Popen[str]":
    """A process that makes the result of `step` in the store at `root`, and runs `middle` half-way."""
    return subprocess.Popen(
        [sys.executable, "-c", WRITER.format(middle=middle), root], stdout=subprocess.PIPE, text=True
    )


def test_a_process_that_is_killed_half_way_leaves_no_result(tmp_path: Path) -> None:
    killed = writer(tmp_path, "os.kill(os.getpid(), 9)")
    assert (killed.communicate()[0], killed.returncode) == ("", -9)
    assert not (tmp_path / "step").exists()
    again = writer(tmp_path, "pass")
    folder = Path(again.communicate()[0].strip())
    assert files(folder) == ["one", "two"]
    assert again.returncode == 0


def test_two_processes_at_once_end_with_one_whole_result(tmp_path: Path) -> None:
    running = [writer(tmp_path, "time.sleep(0.3)") for _ in range(2)]
    folders = [process.communicate()[0].strip() for process in running]
    assert [process.returncode for process in running] == [0, 0]
    assert folders[0] == folders[1]
    assert files(Path(folders[0])) == ["one", "two"]
    assert files(tmp_path / "scratch") == []


def test_a_disk_that_fills_up_during_conversion_is_a_tool_error_not_a_model_error(tmp_path: Path) -> None:
    (tmp_path / "store").mkdir()
    with tiny_disk(tmp_path / "store"):
        with pytest.raises(ToolError, match="no space left on the disk"):
            compiled(tmp_path, linear(columns=1024))
        assert files(tmp_path / "store") == []


REPAIRER = """
import sys, time
from pathlib import Path
from packager.files.store import Step, Store

STEP = Step(name="step", caller="packager.core.errors")

def make(folder):
    time.sleep(0.3)
    (folder / "one").write_text("1")

print(Store(Path(sys.argv[1])).results(STEP, ["inputs"], make))
"""


def test_two_processes_that_find_the_same_damage_end_with_a_whole_result(tmp_path: Path) -> None:
    root = tmp_path / "store"
    command = [sys.executable, "-c", REPAIRER, str(root)]
    made = Path(subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip())
    put(made / "one", "x")
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(3)]
    said = [process.communicate() for process in running]
    assert [process.returncode for process in running] == [0, 0, 0]
    assert {out.strip() for out, _ in said} == {str(made)}
    assert (made / "one").read_text() == "1"
    assert sum(error.count("is damaged") for _, error in said) == 1
    assert files(root / "scratch") == []
