"""The report on a provider: its partitions, its share of the work, the nodes it leaves and why, and the gates."""

from pathlib import Path

from packager.core.findings import CpuFallback
from packager.core.values import Compiled
from packager.verification.partition.report import measured
from tests.cases.partition_report import plain, plan_of, unknown
from tests.toolchain.environments import have

__all__ = ["plain"]


def test_a_provider_that_is_installed_is_asked_itself(plain: Compiled, tmp_path: Path) -> None:
    have("qnn")
    (found,) = measured(plan_of(plain, "qnn"), tmp_path)
    assert (found.skipped, found.is_measured) == ("", True)
    assert "QNN" in found.by
    assert found.node_count == 6
    assert found.left == (CpuFallback(operator="Einsum", count=2, reason="", example="odd"),)
    assert (found.share, found.partition_count) == (1.0, 2)


def test_what_a_provider_cannot_open_is_no_error_but_known(plain: Compiled, tmp_path: Path) -> None:
    have("qnn")
    (found,) = measured(plan_of(unknown(plain, tmp_path), "qnn"), tmp_path)
    assert "Frobnicate" in found.refusal
    assert (found.skipped, found.taken_count, found.partition_count) == ("", 0, 0)
