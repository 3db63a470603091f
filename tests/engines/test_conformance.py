"""A sample of ONNX's own operator tests: results are right or correctly refused, and no case is missed."""

from pathlib import Path

import pytest

from benchmarks import conformance
from benchmarks.conformance_cases import Case, collected, sampled
from benchmarks.conformance_engines import OWN
from benchmarks.conformance_verdicts import Verdict
from tests.nights import examples

COUNT, SEED = examples(150), 8


@pytest.fixture(scope="module")
def cases() -> list[Case]:
    return collected()


SUITE = 1884
"""Cases of the pinned onnx."""


def test_a_sample_is_right_or_truly_refused_and_every_exception_is_on_the_page(
    cases: list[Case], tmp_path: Path
) -> None:
    assert len(cases) == SUITE
    judged = conformance.judge(sampled(cases, COUNT, SEED), tmp_path)
    assert conformance.judge(sampled(cases, COUNT, SEED), tmp_path) == judged
    assert len(judged) == COUNT
    bad = {each.name: each.with_verdict(Verdict.FALSE, Verdict.WRONG, Verdict.CRASHED) for each in judged}
    assert {name: found for name, found in bad.items() if found} == {}
    right = [each for each in judged if each.passes and len(each.with_verdict(Verdict.RIGHT)) == len(OWN)]
    assert len(right) > COUNT / 2
    page = conformance.PAGE.read_text(encoding="utf-8")
    exceptional = [each for each in judged if each.passes and each not in right]
    assert [each.name for each in exceptional if f"`{each.name}`" not in page] == []
    exceptions = page.split("## Exceptions")[1].split("## Cases")[0]
    assert [each.name for each in right if f"`{each.name}`" in exceptions] == []
