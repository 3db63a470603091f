"""A report of which one comparison failed."""

from dataclasses import replace
from pathlib import Path

import pytest

from packager.core.findings import Failure, OutputError, Parity, Report

OFF = OutputError(output="y", max_abs_error=1, max_rel_error=0.5, worst_sample=0, failure="too far")

PARITY = Parity(
    model="m", variant="v", runner="cpu", label="cpu", sample_count=1, samples="1", tolerance=1e-3, outputs=(OFF,)
)

FAILURE = Failure(parity=PARITY, message="y is off", hint="look at it", node="node 'n' is at fault")


@pytest.fixture
def failed(tmp_path: Path) -> Report:
    """A failure with a file of evidence in scratch space."""
    (tmp_path / "scratch" / "m-v").mkdir(parents=True)
    (tmp_path / "scratch" / "m-v" / "inputs.npz").write_bytes(bytes(50_000))
    return Report(parities=(PARITY,), failures=(replace(FAILURE, evidence=tmp_path / "scratch" / "m-v"),) * 2)
