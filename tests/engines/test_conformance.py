"""A sample of ONNX's own operator tests: results are right or correctly refused, and no case is missed."""

import pickle
from pathlib import Path
from typing import Any

import numpy
import pytest

from benchmarks import conformance
from benchmarks.conformance_cases import Case, collected, sampled
from benchmarks.conformance_make import FORMS, FUSED, UNFUSED
from benchmarks.conformance_verdicts import Found, Verdict
from tests.cases.onnx_text import onnx_model
from tests.nights import examples

COUNT, SEED = examples(150), 8


@pytest.fixture(scope="module")
def cases() -> list[Case]:
    return collected()


def case_of(text: str, inputs: list[Any], expected: list[Any], name: str = "test_it") -> Case:
    return Case(name=name, model=onnx_model(text), inputs=tuple(inputs), expected=tuple(expected), rtol=1e-3, atol=1e-7)


HALVES = numpy.array([0.5, 1.5], numpy.float32)

SQUARES = numpy.array([0.25, 2.25], numpy.float32)

SQUARE = "(float[2] x) => (float[2] y) { y = Mul (x, x) }"
SUITE = 1884
"""Cases of the pinned onnx."""


def test_a_sample_is_right_or_truly_refused_and_every_exception_is_on_the_page(
    cases: list[Case], tmp_path: Path
) -> None:
    assert len(cases) == SUITE
    judged = conformance.judge(sampled(cases, COUNT, SEED), tmp_path)
    assert len(judged) == COUNT
    bad = {each.name: each.with_verdict(Verdict.FALSE, Verdict.WRONG, Verdict.CRASHED) for each in judged}
    assert {name: found for name, found in bad.items() if found} == {}
    right = [each for each in judged if each.passes and len(each.with_verdict(Verdict.RIGHT)) == len(FORMS)]
    assert len(right) > COUNT / 2
    page = conformance.PAGE.read_text(encoding="utf-8")
    assert [each.name for each in judged if each not in right and f"`{each.name}`" not in page] == []
    exceptions = page.split("## Exceptions")[1].split("## Cases")[0]
    assert [each.name for each in right if f"`{each.name}`" in exceptions] == []


def test_a_wrong_answer_a_refusal_and_a_crash_are_told_apart(tmp_path: Path) -> None:
    """The file is replaced between making and running it, as a faulty converter would."""
    right = case_of(SQUARE, [HALVES], [SQUARES], "test_right")
    impossible = case_of(SQUARE, [HALVES], [HALVES], "test_expects_what_nobody_gives")
    sequence = "(float[2] x) => (seq(float[2]) y) { y = SequenceConstruct (x) }"
    refused = case_of(sequence, [HALVES], [[HALVES]], "test_sequence")
    judged = {each.name: each for each in conformance.judge([right, impossible, refused], tmp_path)}
    assert set(judged["test_right"].forms) == set(FORMS)
    assert {found.verdict for found in judged["test_right"].forms.values()} == {Verdict.RIGHT}
    assert judged["test_expects_what_nobody_gives"].original.startswith("differs: ")
    assert not judged["test_expects_what_nobody_gives"].passes
    assert {found.reason for found in judged["test_sequence"].forms.values()} == {"a sequence as input or output"}
    folder = tmp_path / "test_right"
    (folder / f"{UNFUSED}.pkl").write_bytes(pickle.dumps([HALVES]))
    files: dict[str, object] = dict.fromkeys(FORMS)
    errors = {FUSED: "Fail: it does not run"}
    again = conformance._judged(right, folder, {"files": files, "refusals": {}}, {"errors": errors}, {"errors": {}})
    assert again.forms[UNFUSED].verdict is Verdict.WRONG
    assert again.forms[FUSED] == Found(Verdict.WRONG, "ONNX Runtime refuses: Fail: it does not run")
    crashed = conformance._judged(
        right, folder, {"files": files, "refusals": {}}, {"crashed": "SIGSEGV"}, {"errors": {}}
    )
    assert {found.verdict for found in crashed.forms.values()} == {Verdict.CRASHED}
    dead = conformance._judged(right, folder, {"crashed": "SIGSEGV"}, {"errors": {}}, {"errors": {}})
    assert {found.verdict for found in dead.forms.values()} == {Verdict.CRASHED}
    lying = conformance._judged(right, folder, {"refused": "no good"}, {"errors": {}}, {"errors": {}})
    assert {found.verdict for found in lying.forms.values()} == {Verdict.FALSE}
