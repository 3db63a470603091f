"""`tests/toolchain/forks.py`: a fork does, says and ends as the program that it stands for."""

import os
import signal
import time
from pathlib import Path

import pytest

from packager.compile.compile import compile_variant
from packager.core.errors import ModelError
from packager.core.values import baseline
from packager.files.store import Store
from packager.processes import children, commands
from tests.onnx_text import linear, loaded
from tests.toolchain.forks import forked

__all__ = ["forked"]
pytestmark = pytest.mark.processes

PROGRAM = """
import json, os, sys
print(json.dumps([os.getcwd(), sys.argv, os.environ["TOLD"], "onnxruntime" in sys.modules]))
sys.stderr.write("complaint")
sys.exit(7)
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "program.py"
    path.write_text(text, encoding="utf-8", newline="\n")
    return path


def test_a_fork_has_folder_arguments_variables_streams_and_code(forked: tuple[str, ...], tmp_path: Path) -> None:
    program = write(tmp_path, PROGRAM)
    done = children.run([*forked, program, "one"], folder=tmp_path, environment={"TOLD": "yes"})
    assert done.stdout == f'["{tmp_path}", ["{program}", "one"], "yes", true]\n'
    assert (done.stderr, done.returncode) == ("complaint", 7)
    assert "TOLD" not in os.environ


def test_a_signal_that_ends_a_fork_is_seen_as_ever(tmp_path: Path) -> None:
    program = write(tmp_path, "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n")
    with pytest.raises(ModelError, match=r"it crashed \(SIGSEGV\)"):
        commands.run_job([program], {}, tmp_path, crash="it crashed", hint="")


def test_a_fork_ends_with_its_client(forked: tuple[str, ...], tmp_path: Path) -> None:
    program = write(tmp_path, "import os, time\nprint(os.getpid(), flush=True)\ntime.sleep(600)\n")
    process = children.start([*forked, program], tmp_path)
    assert process.stdout
    pid = int(process.stdout.readline())
    assert pid != process.pid
    children.end(process)
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    deadline = time.monotonic() + 20
    while Path(f"/proc/{pid}").exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not Path(f"/proc/{pid}").exists()


def test_a_fork_converts_to_the_bytes_of_a_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    for name in ("fork", "program"):
        variant = baseline(loaded(tmp_path, linear()))
        made.append(compile_variant(variant, Store(tmp_path / name)).path.read_bytes())
        monkeypatch.setattr(commands, "python", children.python)
    assert made[0] == made[1]
