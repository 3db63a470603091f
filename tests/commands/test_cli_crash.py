"""Crashes of mobpack itself: the user gets one sentence, exit code 70 and a crash file."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from packager.distribution import release
from tests.cases.caches import empty_cache
from tests.cases.cli import Mobpack, mobpack
from tests.cases.cli_crash import plant
from tests.cases.onnx_text import linear, saved

__all__ = ["mobpack"]


def test_a_fault_at_the_end_of_a_build_leaves_nothing_half_written(
    mobpack: Mobpack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch, MemoryError, release, "manifest")
    saved(tmp_path / "m.onnx", linear())
    code, _, err = mobpack("build", "m.onnx", "-t", "ios", "--set", "target.ios.providers=[]")
    assert (code, "internal error in mobpack (MemoryError)" in err) == (70, True)
    assert sorted(each.name for each in tmp_path.iterdir()) == [".cache", "m.onnx"]
    assert list((tmp_path / ".cache" / "mobpack" / "store" / "scratch").iterdir()) == []


def started(folder: Path, *arguments: str, stdout: int) -> subprocess.CompletedProcess[str]:
    saved(folder / "m.onnx", linear())
    return subprocess.run(
        [sys.executable, "-m", "packager.cli", *arguments],
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
        env={**os.environ, "XDG_CACHE_HOME": str(empty_cache(folder / "cache"))},
        check=False,
    )


@pytest.mark.parametrize("arguments", [("inspect", "m.onnx"), ("inspect", "m.onnx", "--json"), ("--help",)])
def test_output_that_nobody_reads_ends_the_command_without_a_word(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = started(tmp_path, *arguments, stdout=writing)
    os.close(writing)
    assert (done.returncode, done.stderr) == (1, "")


def test_output_that_cannot_be_written_and_names_that_are_no_text_are_told(tmp_path: Path) -> None:
    full = os.open("/dev/full", os.O_WRONLY)
    done = started(tmp_path, "inspect", "m.onnx", stdout=full)
    os.close(full)
    assert done.returncode == 4
    assert done.stderr == "mobpack: error: no space left on device\nhint: free some space, then run again\n"
    done = started(tmp_path, "inspect", os.fsdecode(b"\xff.onnx"), "--json", stdout=subprocess.PIPE)
    assert done.returncode == 3
    assert json.loads(done.stdout)["error"]["message"].startswith("\udcff.onnx: no such file")


INTERRUPTED = "mobpack: interrupted; no output was changed\n"

INTERRUPTED_ON_IMPORT = """
import os, signal, time

try:
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(20)
except KeyboardInterrupt:
    raise {error} from None
"""


@pytest.mark.parametrize(
    ("module", "error", "code", "said"),
    [
        ("click", "SystemExit('the interrupt was raised')", -signal.SIGINT, ""),
        ("onnxruntime", "ImportError('import numpy failed')", 130, INTERRUPTED),
    ],
    ids=["before-it-begins", "in-a-compiled-module"],
)
def test_an_interrupt_of_imports_is_no_crash(module: str, error: str, code: int, said: str, tmp_path: Path) -> None:
    (tmp_path / f"{module}.py").write_text(INTERRUPTED_ON_IMPORT.format(error=error), encoding="utf-8", newline="\n")
    done = subprocess.run(
        [sys.executable, "-m", "packager", "doctor"],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (code, said)
