"""Evidence of failed comparisons lies in one folder each, whatever the files are called."""

from dataclasses import replace
from pathlib import Path

from packager.compile.compile import compile_unfused, compile_variant
from packager.core.findings import Parity
from packager.core.values import Compiled, Style, baseline
from packager.engines.runners import RUNNERS
from packager.files.store import Store
from packager.verification import parity
from packager.verification.failures import Case, explained, file_name, new_folder
from packager.verification.parity import CheckedParity, ParitySettings, Subject
from packager.verification.parity.drawing import Drawn, draw
from tests.cases.onnx_text import linear, loaded

SETTINGS = ParitySettings(random_samples=1)
REFUSED = Parity(
    model="m",
    variant="source",
    runner="cpu",
    label="cpu",
    sample_count=1,
    samples="1",
    tolerance=1e-3,
    outputs=(),
    refusal="no",
)


def case_of(compiled: Compiled, sample: Drawn) -> Case:
    (runner,) = RUNNERS["cpu"]("")
    checked = CheckedParity(parity=REFUSED, worst=sample)
    return Case(
        subject=Subject(variant=compiled.variant, compiled=compiled), runner=runner, checked=checked, settings=SETTINGS
    )


def test_two_unfused_files_of_one_build_that_both_fail_have_evidence_each(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    variant = baseline(loaded(tmp_path, linear()))
    ort = compile_variant(variant, store, style=Style.UNFUSED)
    onnx = compile_unfused(variant, store, ort)
    references = parity.OriginalOutputs(tmp_path)
    (sample,) = draw(variant, SETTINGS, references)
    files = [ort, onnx, replace(ort, processor="fp16"), ort]
    failures = [
        explained(case_of(each, sample), references, tmp_path / f"scratch-{number}", tmp_path / "evidence")
        for number, each in enumerate(files)
    ]
    names = [failure.evidence.name for failure in failures if failure.evidence]
    assert names == [
        "m-source-unfused-ort-cpu",
        "m-source-unfused-onnx-cpu",
        "m-source-unfused-ort-fp16-cpu",
        "m-source-unfused-ort-cpu-2",
    ]
    assert all((tmp_path / "evidence" / name / "expected.npz").stat().st_size for name in names)


def test_a_name_that_is_taken_gets_a_number(tmp_path: Path) -> None:
    made = [new_folder(tmp_path / "evidence", "net-int8").name for _ in range(3)]
    assert made == ["net-int8", "net-int8-2", "net-int8-3"]


def test_a_long_name_in_any_writing_is_a_folder(tmp_path: Path) -> None:
    for letter in "a\u00e4\u4e2d\U00020000":
        folder = new_folder(tmp_path, file_name(letter * 300, "int8"))
        assert folder.is_dir()
        assert folder.name == letter * (120 // len(letter.encode()))
