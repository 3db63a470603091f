"""Gates that stop a release: the messages, and the files that are left."""

from pathlib import Path

import pytest

from packager.core.console import Console
from packager.core.errors import ParityError
from packager.core.findings import Report
from packager.workflows.gates import Rules, judge, keep_evidence
from tests.cases.disks import tiny_disk
from tests.cases.verdict import failed

__all__ = ["failed"]


def test_a_full_disk_loses_the_evidence_and_not_the_verdict(failed: Report, tmp_path: Path) -> None:
    console = Console(quiet=True)
    disk = tmp_path / "disk"
    disk.mkdir()
    (tmp_path / "scratch" / "m-v" / "inputs.npz").write_bytes(bytes(200_000))
    with tiny_disk(disk):
        report = keep_evidence((), failed, Rules(evidence=disk / "kept"), console)
        assert list(disk.iterdir()) == []
    (warning,) = console.warnings
    assert warning.startswith("the evidence could not be kept: no space left")
    with pytest.raises(ParityError, match="y is off; node 'n' is at fault; 1 more failed") as error:
        judge(report, Rules(), console)
    assert error.value.hint == "look at it", "nothing is said to show it that is not there"
