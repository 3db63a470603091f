"""Statistics of the calibration process equal numpy's on every output, in any number of threads and after any break."""

import json
import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from packager.quantization.calibration.statistics import load
from tests.cases.calibration_cases import job
from tests.cases.calibration_watch import ALL, BLOCK_MODEL, assert_same, folder, watched

__all__ = ["folder"]


def test_a_run_that_was_killed_goes_on_and_ends_alike(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, _ = watched(job(BLOCK_MODEL, ALL, folder))
    Path(job(BLOCK_MODEL, ALL, folder).unfinished).unlink()
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    told = job(BLOCK_MODEL, ALL, folder, description={"at": 4, "does": "SIGKILL"})
    (folder / "job.json").write_text(json.dumps(asdict(told)))
    command = [sys.executable, "-P", "-m", "packager.quantization.calibration.child", str(folder / "job.json")]
    assert subprocess.run(command, capture_output=True, check=False).returncode == -9
    done_before = len(load(Path(told.unfinished)).extremes)
    assert 1 <= done_before < 5
    resumed, done = watched(replace(told, description={"folder": str(folder)}))
    assert done == list(range(done_before + 1, 6))
    assert_same(resumed, whole)
