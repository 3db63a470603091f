"""Providers: their default options and templates, and the parts of a new one."""

from pathlib import Path

import pytest

from packager.compile import plan
from packager.core.findings import Report
from packager.core.values import Style, baseline
from packager.files.store import Store
from packager.reporting import document, page
from packager.runtimes import recipe
from packager.targets.android import Android
from packager.verification.partition.report import partition
from tests.cases.cli import Mobpack, mobpack
from tests.cases.onnx_text import linear, loaded, saved
from tests.cases.providers import abacus

__all__ = ["abacus", "mobpack"]


@pytest.mark.usefixtures("abacus")
def test_a_new_provider_is_a_file_and_a_line(tmp_path: Path, mobpack: Mobpack) -> None:
    """It appears in the configuration, the plan, the report, the recipe of a runtime, and what `init` writes."""
    target = Android(providers=("xnnpack", "abacus"))
    assert (
        target.published_runtime() == Android(providers=("qnn",)).published_runtime() != Android().published_runtime()
    )
    model = loaded(tmp_path, linear())
    made = plan.make(baseline(model), target, Store(tmp_path / "store"), lambda words: None)
    choice = next(each for each in made.choices if each.provider == "abacus")
    assert (choice.reason, choice.compiled.style) == ("it slides beads", Style.UNFUSED)
    assert any("beads are slow" in note for note in made.notes)

    found = partition(made, choice)
    assert (found.provider, found.skipped) == (
        "abacus",
        "abacus is not predicted, and no ONNX Runtime for this machine has it",
    )
    assert "no ONNX Runtime for this machine has it" in page(
        document((made,), Report(parities=(), partitions=(found,)))
    )

    assert "--use_abacus" in recipe._provider_flags("android", ["abacus"])
    saved(tmp_path / "m.onnx", linear())
    assert mobpack("init", "m.onnx").code == 0
    assert '"abacus"' in (tmp_path / "mobpack.toml").read_text(encoding="utf-8")
