"""A sample of ONNX's own operator tests: results are right or correctly refused, and no case is missed."""

import pickle
import random
import sys
from pathlib import Path
from typing import Any

import numpy
import onnx
import pytest

from benchmarks import conformance_page
from benchmarks.conformance_batches import PER_PROCESS, answers
from benchmarks.conformance_cases import Case, from_portable, portable, sampled
from benchmarks.conformance_make import FORMS, FUSED, STEPS, UNFUSED, made
from benchmarks.conformance_reasons import reason_of
from benchmarks.conformance_verdicts import Found, Judged, Verdict
from packager import models
from packager.compile.compile import compile_fused, compile_unfused, compile_variant
from packager.core.values import Style, baseline
from packager.files.hashes import sha256_of
from packager.files.store import Store
from tests.cases.conformance import COUNT, HALVES, SEED, SQUARE, SQUARES, case_of, cases
from tests.cases.onnx_text import onnx_model

__all__ = ["cases"]


def test_a_sample_is_the_same_for_a_seed_and_another_for_another(cases: list[Case]) -> None:
    names = [case.name for case in sampled(cases, COUNT, SEED)]
    shuffled = random.Random(0).sample(cases, len(cases))
    assert len(set(names)) == COUNT
    assert names == sorted(names)
    assert [case.name for case in sampled(sorted(shuffled, key=lambda case: case.name), COUNT, SEED)] == names
    assert [case.name for case in sampled(cases, COUNT, SEED + 1)] != names


@pytest.mark.parametrize(
    ("outputs", "said"),
    [
        ([SQUARES], ""),
        ([SQUARES * 1.0005], ""),
        ([SQUARES * 1.002], "Not equal to tolerance"),
        ([SQUARES.astype(numpy.float64)], "float64"),
        ([SQUARES.reshape(1, 2)], "incorrect shape"),
        ([numpy.full(2, numpy.nan, numpy.float32)], "nan location mismatch"),
        ([], "are missing"),
        ([SQUARES, SQUARES], "more than expected"),
        ([[SQUARES]], "more than expected"),
    ],
)
def test_outputs_are_judged_by_the_suite_itself(outputs: list[Any], said: str) -> None:
    difference = case_of(SQUARE, [HALVES], [SQUARES]).difference(outputs)
    assert bool(difference) == bool(said)
    assert said in difference


def test_lists_with_scalars_are_compared_one_by_one() -> None:
    case = case_of(SQUARE, [HALVES], [[numpy.float32(1), SQUARES]])
    assert case.difference([[numpy.array(1, numpy.float32), SQUARES]]) == ""
    assert case.difference([[numpy.array(2, numpy.float32), SQUARES]])
    assert case.difference([[numpy.array(1, numpy.float32)]])


def test_types_that_numpy_lacks_travel_as_bits() -> None:
    import ml_dtypes

    values = [numpy.array([1.5, -2.0], ml_dtypes.bfloat16), None, HALVES, numpy.array(["a"], object)]
    sent = pickle.loads(pickle.dumps([portable(each) for each in values]))
    assert sent[0][0].dtype == numpy.uint16
    assert sent[0][1] == onnx.TensorProto.BFLOAT16
    back = [from_portable(each) for each in sent]
    assert back[0].dtype == ml_dtypes.bfloat16
    assert (back[0] == values[0]).all()
    assert back[1] is None
    assert (back[2] == HALVES).all()


def test_a_refusal_is_true_where_the_model_bears_it_out() -> None:
    words = "'{}' is not a tensor of a type that mobile APIs carry; cast it inside the graph"
    model = onnx_model("(float[2] x, int4[2] q) => (seq(float[2]) y) { y = SequenceConstruct (x) }")
    assert reason_of(words.format("y"), model) == "a sequence as input or output"
    assert reason_of(words.format("q"), model) == "int4 as input or output"
    assert reason_of(words.format("x"), model) == ""
    assert reason_of(words.format("absent"), model) == ""
    assert reason_of("opset 26 is newer than the runtime knows", model) == ""


def test_files_are_those_that_a_build_makes(tmp_path: Path) -> None:
    """The program converts in one process; the bytes are those of the steps that plans are made of."""
    case = case_of("(float[2] x) => (float[2] y) { a = Mul (x, x) b = Add (a, x) y = Relu (b) }", [HALVES], [SQUARES])
    folder = case.written(tmp_path)
    found = made(folder)["files"]
    store = Store(tmp_path / "store")
    variant = baseline(models.hashed(models.load(folder / "model.onnx", "model")), "fp32")
    fixed, unfused = compile_variant(variant, store), compile_variant(variant, store, style=Style.UNFUSED)
    expected = [fixed, compile_unfused(variant, store, fixed), unfused, compile_fused(variant, store, unfused)]
    assert [sha256_of(Path(found[step.form]["path"])) for step in STEPS] == [each.sha256 for each in expected]
    for step, compiled in zip(STEPS, expected, strict=True):
        assert compiled.settings.items() <= found[step.form]["settings"].items()


PROGRAM = """
import json, os, pathlib, signal, sys
for name in map(pathlib.Path, sys.argv[1:]):
    (name / "tried").open("a").write("x")
    if name.name == "hangs":
        os.kill(os.getpid(), signal.SIGALRM)
    if name.name == "dies" or name.name == "dies in company" and len(sys.argv) > 2:
        os.kill(os.getpid(), signal.SIGSEGV)
    if name.name == "raises":
        raise ValueError("no")
    print(json.dumps({"case": name.name, "is": "well"}), flush=True)
"""


def test_a_case_that_dies_takes_no_other_along(tmp_path: Path) -> None:
    others = [f"fine {number}" for number in range(PER_PROCESS)]
    folders = [tmp_path / name for name in (*others, "dies", "dies in company", "hangs", "raises", "last")]
    for folder in folders:
        folder.mkdir()
    found = answers([sys.executable, "-c", PROGRAM], folders, environment={}, jobs=2)
    assert set(found) == {folder.name for folder in folders}
    crashed = {name: answer["crashed"] for name, answer in found.items() if "crashed" in answer}
    assert crashed == {"dies": "SIGSEGV", "hangs": "it took too long", "raises": "ValueError: no"}
    assert {answer["is"] for name, answer in found.items() if name not in crashed} == {"well"}
    assert (tmp_path / "dies in company" / "tried").read_text() == "xx"
    assert (tmp_path / "fine 3" / "tried").read_text() == "x"


def test_the_page_counts_forms_and_names_every_exception() -> None:
    right = dict.fromkeys(FORMS, Found(Verdict.RIGHT))
    wrong = {**right, UNFUSED: Found(Verdict.WRONG, "differs: by a lot")}
    refused = dict.fromkeys(FORMS, Found(Verdict.REFUSED, "no", "a map as input or output"))
    page = conformance_page.text(
        [
            Judged(name="test_a", original="", forms=right),
            Judged(name="test_b", original="", forms=wrong),
            Judged(name="test_c", original="", forms=refused),
            Judged(name="test_d", original="differs: much", forms=refused),
            Judged(name="test_e", original="refuses", forms=dict.fromkeys(FORMS, Found(Verdict.CRASHED, "SIGSEGV"))),
        ]
    )
    assert "ONNX Runtime itself passes 3 of 5 cases. Verdicts on those:" in page
    assert f"| {UNFUSED} | 1 | 1 | 0 | 1 | 0 |" in page
    assert f"| {FUSED} | 2 | 1 | 0 | 0 | 0 |" in page
    assert f"- wrong, differs: by a lot: `test_b` ({UNFUSED})" in page
    assert "- correctly refused, a map as input or output: `test_c`\n" in page
    assert "- crashed, SIGSEGV: `test_e`\n" in page
    assert "mobpack crashes on 1 of the 2 cases that ONNX Runtime does not pass." in page
    assert "- outputs differ from the suite's (1): `test_d`" in page
    assert "test_a" not in page
