"""Results by content: made once, whole or absent, whatever happens meanwhile."""

import subprocess
import sys
from pathlib import Path

import pytest

from packager.errors import ToolError
from packager.store import Store, key_of
from tests.disks import tiny_disk
from tests.onnx_text import compiled, linear

WRITER = """
import os, sys, time
from pathlib import Path
from packager.store import Store

def make(folder):
    (folder / "one").write_text("1")
    {middle}
    (folder / "two").write_text("2")

print(Store(Path(sys.argv[1])).results("step", ["inputs"], make))
"""


def writer(root: Path, middle: str) -> "subprocess.Popen[str]":
    """A process that makes the result of `step` in the store at `root`, with `middle` done half-way."""
    return subprocess.Popen(
        [sys.executable, "-c", WRITER.format(middle=middle), root], stdout=subprocess.PIPE, text=True
    )


def files(root: Path) -> list[str]:
    return sorted(path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file())


def test_a_result_is_made_once(tmp_path: Path) -> None:
    calls: list[Path] = []

    def make(folder: Path) -> None:
        calls.append(folder)
        (folder / "answer").write_text("42")

    one, two = (Store(tmp_path).results("step", {"b": 1, "a": [2]}, make) for _ in range(2))
    assert one == two
    assert (one / "answer").read_text() == "42"
    assert len(calls) == 1


def test_other_inputs_or_another_step_are_another_result(tmp_path: Path) -> None:
    store = Store(tmp_path)
    folders = {store.results(step, inputs, lambda folder: None) for step, inputs in (("a", 1), ("a", 2), ("b", 1))}
    assert len(folders) == 3


def test_keys_do_not_depend_on_the_order_of_tables_but_on_that_of_lists() -> None:
    assert key_of({"a": 1, "b": 2}) == key_of({"b": 2, "a": 1})
    assert key_of([1, 2]) != key_of([2, 1])
    assert key_of("é") == key_of("\u00e9")
    assert key_of("1") != key_of(1)


def test_a_result_that_fails_half_way_leaves_nothing_and_can_be_made_later(tmp_path: Path) -> None:
    def fail(folder: Path) -> None:
        (folder / "half").write_text("x")
        raise KeyboardInterrupt

    store = Store(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        store.results("step", 1, fail)
    assert files(tmp_path) == []
    assert (store.results("step", 1, lambda folder: None)).is_dir()


def test_a_process_that_is_killed_half_way_leaves_no_result(tmp_path: Path) -> None:
    killed = writer(tmp_path, "os.kill(os.getpid(), 9)")
    assert (killed.communicate()[0], killed.returncode) == ("", -9)
    assert not (tmp_path / "step").exists()
    again = writer(tmp_path, "pass")
    folder = Path(again.communicate()[0].strip())
    assert files(folder) == ["one", "two"]


def test_two_processes_at_once_end_with_one_whole_result(tmp_path: Path) -> None:
    running = [writer(tmp_path, "time.sleep(0.3)") for _ in range(2)]
    folders = [process.communicate()[0].strip() for process in running]
    assert [process.returncode for process in running] == [0, 0]
    assert folders[0] == folders[1]
    assert files(Path(folders[0])) == ["one", "two"]
    assert files(tmp_path / "scratch") == []


def test_scratch_is_gone_afterwards(tmp_path: Path) -> None:
    with Store(tmp_path).scratch() as folder:
        (folder / "x").write_text("x")
    assert not folder.exists()


def fill_up(folder: Path) -> None:
    (folder / "half").write_text("x")
    Path("/dev/full").write_text("x")


def test_a_full_disk_is_a_tool_error(tmp_path: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full, the disk that is always full")
    with pytest.raises(ToolError, match="no space left on the disk of") as error:
        Store(tmp_path).results("step", 1, fill_up)
    assert error.value.hint == "free some space, then run again"
    assert files(tmp_path) == []


def test_a_disk_that_fills_up_during_conversion_is_a_tool_error_not_a_model_error(tmp_path: Path) -> None:
    (tmp_path / "store").mkdir()
    with tiny_disk(tmp_path / "store"):
        with pytest.raises(ToolError, match="no space left on the disk"):
            compiled(tmp_path, linear(columns=1024))
        assert files(tmp_path / "store") == []


def test_a_store_that_cannot_be_written_is_a_tool_error_with_the_way_out(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ToolError, match="cannot write to the cache") as error:
        Store(tmp_path / "file" / "store").results("step", 1, lambda folder: None)
    assert "XDG_CACHE_HOME" in error.value.hint
