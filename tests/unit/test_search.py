"""The search: always within its budget and its bound, with as many quantized layers as possible."""

import math
from collections.abc import Callable, Mapping
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from packager.core.errors import ModelError
from packager.quantization.ahead import prospect
from packager.quantization.search import LayerAssignment, Search, SearchResult, decibels
from tests.nights import examples

NOISES = {"a": 0.5, "b": 0.1, "c": 0.4, "d": 0.05, "e": 0.3}
WEIGHTS = 0.1
"""Noise of integer weights alone, as a share of the noise of integer weights and activations."""


def search(
    noises: Mapping[str, float],
    budget: float,
    *,
    methods: Mapping[str, float] = {"minmax": 1.0},
    further_tries: int = 8,
    weights: float = WEIGHTS,
    base: float = 0.0,
) -> SearchResult:
    """A search on layers whose losses add up; a method multiplies them."""

    def drop(assignment: LayerAssignment) -> float:
        integer = sum(noises[name] for name in sorted(assignment.integer))
        shrunk = sum(noises[name] * weights for name in sorted(assignment.weights))
        return base + methods[assignment.method] * (integer + shrunk)

    return Search(
        layers=list(noises),
        methods=list(methods),
        budget=budget,
        further_tries=further_tries,
        drop=drop,
        sensitivity=drop,
    ).run()


def test_the_quietest_way_within_the_budget_is_chosen() -> None:
    found = search(NOISES, 2.0)
    assert found.assignment.integer == set(NOISES)
    assert (found.evaluation_count, dict(found.reasons), dict(found.sensitivity)) == (1, {}, {})
    found = search(NOISES, 1.0, methods={"minmax": 1.0, "entropy": 0.5, "mse": 0.7})
    assert found.assignment.method == "entropy"
    assert found.drop == pytest.approx(0.675)
    # On few samples a score may exceed the float model's by chance.
    scores, noises = {"minmax": 0.01, "entropy": -0.02, "mse": 0.02}, {"minmax": 0.002, "entropy": 0.3, "mse": 0.001}
    found = Search(
        layers=["a"],
        methods=list(scores),
        budget=0.015,
        further_tries=0,
        drop=lambda assignment: scores[assignment.method],
        sensitivity=lambda assignment: noises[assignment.method],
    ).run()
    assert found.assignment.method == "minmax"
    assert found.evaluation_count == 3 + 2


def test_the_layers_with_the_least_noise_are_in_integers_and_the_others_keep_integer_weights() -> None:
    found = search(NOISES, 0.55)
    assert found.assignment.integer == {"d", "b", "e"}
    assert found.assignment.weights == {"a", "c"}
    assert found.drop == pytest.approx(0.45 + 0.09)


def test_layers_stay_in_float_where_even_integer_weights_are_too_much() -> None:
    found = search(NOISES, 0.06, weights=1.0, further_tries=0)
    assert found.assignment.integer == {"d"}
    assert not found.assignment.weights


def test_every_layer_that_is_not_in_integers_has_a_reason() -> None:
    found = search(NOISES, 0.55)
    assert set(found.reasons) == {"a", "c"}
    assert found.reasons["a"] == (
        "its weights alone are integers; alone in integers it brings the output to 3.0 dB, rank 1 of 5 by sensitivity; "
        "added last, the drop was 0.99"
    )


def test_a_layer_behind_the_one_that_was_too_much_is_tried_alone() -> None:
    """Halving stops at the first layer too many; a smaller one behind it may still fit."""

    def drop(assignment: LayerAssignment) -> float:
        return sum({"a": 0.1, "b": 0.9, "c": 0.2}[name] for name in sorted(assignment.integer))

    def sensitivity(assignment: LayerAssignment) -> float:  # says the wrong order
        return sum({"a": 0.1, "b": 0.2, "c": 0.3}[name] for name in sorted(assignment.integer))

    known = {"layers": ["a", "b", "c"], "methods": ["minmax"], "budget": 0.35, "drop": drop, "sensitivity": sensitivity}
    assert Search(**known, further_tries=0).run().assignment.integer == {"a"}  # type: ignore[arg-type]
    assert Search(**known, further_tries=1).run().assignment.integer == {"a", "c"}  # type: ignore[arg-type]


def test_models_over_the_budget_or_without_layers_are_answered() -> None:
    with pytest.raises(
        ModelError, match=r"every layer in float the metric drops by 0\.7: the budget is 0\.5"
    ) as caught:
        search(NOISES, 0.5, base=0.7)
    assert "max-drop" in caught.value.hint
    found = search({}, 0.1, methods={"minmax": 1.0, "mse": 1.0})
    assert (found.evaluation_count, found.assignment.integer) == (2 + 2, frozenset())
    assert [decibels(each) for each in (0.01, 0.5, 0.0)] == ["20.0 dB", "3.0 dB", "no noise"]


@settings(max_examples=examples(60), derandomize=True, deadline=None)
@given(
    noises=st.dictionaries(st.text("abcdefghijklmnop", min_size=1, max_size=3), st.floats(0.001, 1.0), max_size=20),
    budget=st.floats(0.0, 4.0),
    further=st.integers(0, 9),
    weights=st.floats(0.0, 1.0),
)
def test_the_answer_is_within_the_budget_and_found_within_the_bound(
    noises: dict[str, float], budget: float, further: int, weights: float
) -> None:
    found = search(noises, budget, methods={"minmax": 1.0, "mse": 0.9}, further_tries=further, weights=weights)
    assert found.drop <= budget
    assert found.evaluation_count <= found.bound
    most = len(noises) + 2 + 2 * math.ceil(math.log2(len(noises) + 1)) + further
    assert found.bound == 2 + max(2, most)
    assert not found.assignment.integer & found.assignment.weights
    assert set(found.reasons) == set(noises) - found.assignment.integer
    assert search(noises, budget, methods={"minmax": 1.0, "mse": 0.9}, further_tries=further, weights=weights) == found


@settings(max_examples=examples(40), derandomize=True, deadline=None)
@given(
    noises=st.dictionaries(st.text("abcdefgh", min_size=1, max_size=2), st.floats(0.01, 1.0), min_size=1, max_size=9),
    budget=st.floats(0.05, 3.0),
)
def test_where_drops_add_up_no_larger_set_is_within_the_budget(noises: dict[str, float], budget: float) -> None:
    found = search(noises, budget, weights=0.0)
    largest, total = 0, 0.0
    for sensitivity in sorted(noises.values()):
        total += sensitivity
        largest += total <= budget
    assert len(found.assignment.integer) == largest


@pytest.mark.parametrize("budget", [0.02, 0.1, 0.3, 0.55, 0.8, 2.0])
def test_what_a_search_tries_next_is_among_the_candidates_whatever_it_waits_for(budget: float) -> None:
    whole = search(NOISES, budget, further_tries=2)
    drops = {each.assignment: each.drop for each in whole.evaluations}

    def begin(drop: Callable[[LayerAssignment], float], noise: Callable[[LayerAssignment], float]) -> Search:
        return Search(
            layers=list(NOISES), methods=["minmax"], budget=budget, further_tries=2, drop=drop, sensitivity=noise
        )

    def noise(assignment: LayerAssignment) -> float:
        return sum(NOISES[name] for name in sorted(assignment.integer))

    tried = [*drops]
    for count, (waits_for, follows) in enumerate(pairwise(tried)):
        known = {each: drops[each] for each in tried[:count]}
        found = prospect(begin, known.get, noise, 2)
        assert not found.has_ended
        assert follows in found.candidates
        assert waits_for not in found.candidates
        assert len(found.candidates) <= 2
        # What follows is evaluated: the next candidates are those after it.
        further = prospect(begin, {**known, follows: drops[follows]}.get, noise, 2)
        assert follows not in further.candidates
    assert prospect(begin, drops.get, noise, 2).has_ended
    # Noise is a number, not one of two outcomes: nothing is known of what follows it.
    unknown = prospect(begin, {tried[0]: 9.0}.get, lambda assignment: None, 2)
    assert (unknown.has_ended, unknown.candidates) == (False, ())
