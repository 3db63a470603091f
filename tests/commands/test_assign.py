"""Measured partitions: every node of a file is accounted for under its name in the file."""

import json
import subprocess
import sys
from pathlib import Path

from packager.engines.environments import CHILD
from packager.files.processes import commands


def test_a_job_runs_under_the_command_it_is_given(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("import json, sys\nprint(json.dumps({'flags': [sys.flags.no_site, sys.flags.safe_path]}))\n")
    assert commands.run_job([program], {}, tmp_path, crash="", hint="") == {"flags": [0, True]}
    command = [sys.executable, "-S"]
    assert commands.run_job([program], {}, tmp_path, crash="", hint="", command=command) == {"flags": [1, False]}


def test_the_child_answers_in_words_when_onnxruntime_refuses(tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes(b"not a model")
    job = {"task": "assign", "model": str(tmp_path / "model.onnx"), "provider": "cpu", "provider_options": {}}
    (tmp_path / "job.json").write_text(json.dumps({**job, "entries": {}, "data_folder": None, "optimize": True}))
    done = subprocess.run(
        [sys.executable, str(CHILD), str(tmp_path / "job.json")], capture_output=True, text=True, check=True
    )
    assert "Protobuf parsing failed" in json.loads(done.stdout.splitlines()[-1])["error"]
