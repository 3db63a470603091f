"""Gates that stop a release: the messages, and the files that are left."""

import os
import time
from dataclasses import replace
from pathlib import Path

import pytest

from packager.core.console import Console
from packager.core.errors import ConfigError, GateError, ParityError
from packager.core.findings import Partition, Report
from packager.files.replaced_folder import FolderKind, replaced
from packager.verification.kept import MARK, kept, refuse_nested
from packager.verification.partition.report import Gates
from packager.workflows.gates import Rules, judge, keep_evidence
from tests.cases.verdict import FAILURE, failed

__all__ = ["failed"]

KIND = FolderKind(words="a thing of ours", mark="thing.json", option="--thing")


def test_evidence_lies_where_the_hint_says_and_replaces_its_own(failed: Report, tmp_path: Path) -> None:
    rules = Rules(evidence=tmp_path / "kept")
    report = keep_evidence((), replace(failed, failures=failed.failures[:1]), rules, Console(quiet=True))
    assert (tmp_path / "kept" / "m-v" / "inputs.npz").stat().st_size == 50_000
    assert {"report.html", "report.json", MARK} < {path.name for path in (tmp_path / "kept").iterdir()}
    with pytest.raises(ParityError, match=r"^y is off; node 'n' is at fault$") as error:
        judge(report, rules, Console(quiet=True))
    assert error.value.hint == f"{tmp_path / 'kept' / 'm-v'} shows it; look at it"
    with kept(tmp_path / "kept") as first:
        (first / "old").write_text("")
    with kept(tmp_path / "kept") as second:
        (second / "new").write_text("")
    assert sorted(path.name for path in (tmp_path / "kept").iterdir()) == [MARK, "new"]
    (tmp_path / "kept" / MARK).unlink()
    with pytest.raises(ConfigError, match="is not mobpack's evidence"), kept(tmp_path / "kept"):
        raise AssertionError("it must not come to filling the folder")
    refuse_nested(tmp_path / "dist-evidence", tmp_path / "dist")
    refuse_nested(Path("mobpack-evidence"), Path())


def test_a_failed_comparison_goes_before_a_gate_and_a_gate_before_warnings() -> None:
    console = Console(quiet=True)
    console.warn("careful")
    poor = Partition(model="m", target="t", provider="qnn", sha256="", partition_count=9, is_measured=True, by="QNN")
    rules = Rules(gates=Gates(max_partitions=1), strict=True)
    with pytest.raises(ParityError):
        judge(Report(parities=(), partitions=(poor,), failures=(FAILURE,)), rules, console)
    with pytest.raises(GateError):
        judge(Report(parities=(), partitions=(poor,)), rules, console)


@pytest.mark.parametrize(
    ("rules", "asks"),
    [
        (Rules(strict=True), "--strict"),
        (Rules(gates=Gates(min_share=0.9)), "the gates on partitions"),
        (Rules(gates=Gates(max_partitions=4), strict=True), "the gates on partitions"),
    ],
)
def test_a_gate_that_could_not_examine_names_all_of_it_and_one_command(rules: Rules, asks: str) -> None:
    reason = "it is measured where `mobpack doctor --install {}` has been run"
    qnn = Partition(model="m", target="android", provider="qnn", sha256="1", skipped=reason.format("qnn"))
    webgpu = replace(qnn, target="web", provider="webgpu", sha256="2", skipped=reason.format("webgpu"))
    report = Report(parities=(), partitions=(qnn, replace(qnn, model="n"), webgpu))
    with pytest.raises(GateError) as error:
        judge(report, rules, Console(quiet=True))
    assert error.value.message.startswith(f"{asks}: not examined: model 'm' on android, qnn: it is measured")
    assert "model 'n' on android, qnn" in error.value.message
    assert "model 'm' on web, webgpu" in error.value.message
    assert error.value.hint.startswith("mobpack doctor --install qnn --install webgpu; or leave out the providers")
    judge(report, Rules(), Console(quiet=True))
    said = replace(qnn, skipped="", share=0.95, partition_count=1, is_measured=True, by="QNN")
    judge(replace(report, partitions=(qnn,), measured=(said,)), rules, Console(quiet=True))


@pytest.mark.parametrize(
    ("evidence", "out"), [("dist", "dist"), ("dist/e", "dist"), ("e", "e/dist"), ("./x/../dist", "dist")]
)
def test_evidence_and_a_release_lie_side_by_side(tmp_path: Path, evidence: str, out: str) -> None:
    with pytest.raises(ConfigError, match="one is inside the other"):
        refuse_nested(tmp_path / evidence, tmp_path / out)


def test_what_a_killed_command_left_a_day_ago_is_removed(tmp_path: Path) -> None:
    old, young = tmp_path / ".out.abc", tmp_path / ".out.def"
    for folder in (old, young):
        folder.mkdir()
    long_ago = time.time() - 25 * 60 * 60
    os.utime(old, (long_ago, long_ago))
    for _ in range(2):  # where nothing stands in its place, what was left may be the only copy: it stays
        assert old.is_dir()
        with replaced(tmp_path / "out", KIND) as made:
            (made / "thing.json").write_text('{"mobpack": "1"}')
    assert sorted(path.name for path in tmp_path.iterdir()) == [".out.def", "out"]
