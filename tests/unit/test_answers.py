"""Outputs as a contract describes them."""

from typing import Any

import numpy
import pytest

from packager.contract.results import Box, Classification, Detection, Entity, MaskResult, Reading, Share, answer
from tests.golden import cases
from tests.golden.cases import BOXES, CLASSES, EMBEDDING, MASK, RAW_OUTPUT, TEXT


def said(typed: Any, outputs: dict[str, Any], top: int | None = None) -> Any:
    return answer(typed, outputs, top)


def scores(*values: float) -> dict[str, Any]:
    return {"logits.scores": numpy.array(values, numpy.float32)}


def test_classes_come_best_first_above_the_threshold_and_as_many_as_asked() -> None:
    found = said(CLASSES, scores(0.125, 0.5, 0.25, 0.0))
    assert found == (
        Classification(label='a "dog"', index=1, score=0.5),
        Classification(label="größe\\$x", index=2, score=0.25),
        Classification(label="cat", index=0, score=0.125),
    )
    assert [each.index for each in said(CLASSES, scores(0.25, 0.5, 0.25, 0.5))] == [1, 3, 0]
    assert [each.index for each in said(CLASSES, scores(-0.1, numpy.nan, 0.1, 0.0))] == [2, 3]
    assert len(said(CLASSES, scores(0.1, 0.2, 0.3, 0.4), top=10)) == 4


def test_boxes_are_in_the_order_of_the_graph() -> None:
    outputs: dict[str, Any] = {
        "found.boxes": numpy.array([[1, 2, 3, 4], [5, 6, 7, 8]], numpy.float32),
        "found.scores": numpy.array([0.5, 0.25], numpy.float32),
        "found.classes": numpy.array([0, 1]),
    }
    assert said(BOXES, outputs) == (
        Detection(label="text", index=0, score=0.5, box=Box(left=1, top=2, right=3, bottom=4)),
        Detection(label="", index=1, score=0.25, box=Box(left=5, top=6, right=7, bottom=8)),
    )


def test_a_mask_is_shares_and_parts_of_a_text_are_counted_in_code_points() -> None:
    outputs = {"mask.classes": numpy.array([[0, 2, 2], [2, 2, 0]], numpy.uint8)}
    shares = (Share(label="", index=2, share=4 / 6), Share(label="", index=0, share=2 / 6))
    assert said(MASK, outputs) == MaskResult(width=3, height=2, shares=shares)
    numbers = ([1, 0, 9], [2, 0, 0], [4, 1, 0], [0.5, 0.75, 1])
    outputs = {spec.name: numpy.array(each) for spec, each in zip(cases.TAGS, numbers, strict=True)}
    inputs = {cases.SPANS.text.name: numpy.array([-1, *map(ord, "\U0001f600 \ud83db"), -1], numpy.int32)}
    assert answer(cases.SPANS, outputs, inputs=inputs) == (
        Entity(label="Ort", text="\ud83db", start=2, end=4, score=0.5),
        Entity(label="person", text="\U0001f600", start=0, end=1, score=0.75),
        Entity(label="", text="", start=0, end=0, score=1),
    )


def test_a_text_is_its_symbols_and_its_score_their_mean_and_a_pair_has_a_number() -> None:
    outputs = {"text.symbols": numpy.array([4, 5, 1]), "text.scores": numpy.array([0.5, 1, 0.75], numpy.float32)}
    assert said(TEXT, outputs) == Reading(text="日 b", score=0.75)
    outputs = {"text.symbols": numpy.zeros(0, numpy.int64), "text.scores": numpy.zeros(0, numpy.float32)}
    assert said(TEXT, outputs) == Reading(text="", score=0.0)
    assert said(cases.PAIRS, {"logits.score": numpy.array([0.25], numpy.float32)}) == 0.25


@pytest.mark.parametrize(("typed", "name"), [(EMBEDDING, "feature.vector"), (RAW_OUTPUT, "raw")])
def test_numbers_stay_numbers(typed: Any, name: str) -> None:
    assert list(said(typed, {name: numpy.array([0.5, 0.25])})) == [0.5, 0.25]
