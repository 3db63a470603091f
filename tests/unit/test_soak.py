"""The soak finds memory, descriptors and threads that grow, wrong answers, and answers that come too late."""

import random
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from benchmarks.soak.app import App, Counts
from benchmarks.soak.measuring import Sample, growth
from tests.cases.delivery_releases import FIRST, sum_of

QUIET = Sample(memory_mib=100.0, descriptors=20, threads=10)
HONEST: Mapping[str, Mapping[str, Any]] = {
    "load": {"version": FIRST, "sum": sum_of(FIRST)},
    "test": {"passed": True, "outputs": 1},
    "runs": {"sums": [sum_of(FIRST)], "answers": 24, "errors": "", "slowest": 3},
}


class Answering:
    """A program with the same answer to each command."""

    def __init__(self, answers: Mapping[str, Mapping[str, Any]]) -> None:
        self.answers = answers

    def ask(self, command: str) -> Mapping[str, Any]:
        return self.answers.get(command.split()[0], {})

    def send(self, command: str) -> Mapping[str, Any]:
        return self.ask(command)

    def kill(self) -> None:
        raise AssertionError("nobody kills it")


class Still:
    """A channel where nothing happens."""

    def change(self, chance: random.Random) -> None:
        assert chance

    def heal(self) -> str:
        return FIRST


def faults(answers: Mapping[str, Mapping[str, Any]]) -> list[str]:
    counts = Counts()
    app = App(
        running=Answering({**HONEST, **answers}),
        network=Still(),
        random=random.Random(0),
        counts=counts,
        has_pressure=True,
        has_heat=True,
    )
    app.load()
    app.runs()
    app.test()
    return counts.faults


def test_honest_answers_are_no_fault() -> None:
    assert faults({}) == []


@pytest.mark.parametrize(
    ("command", "answer", "words"),
    [
        ("load", {"sum": sum_of(FIRST) + 1}, "load of"),
        ("load", {"version": "9.9.9"}, "load: "),
        ("test", {"passed": False}, "the self-test of"),
        ("runs", {"sums": [sum_of(FIRST), 0.0]}, "a run of"),
        ("runs", {"errors": "disposed"}, "a run fails: disposed"),
        ("runs", {"answers": 0}, "runs have no answer"),
        ("runs", {"slowest": 5001}, "a run takes 5.0 s"),
    ],
)
def test_wrong_answers_are_named(command: str, answer: Mapping[str, Any], words: str) -> None:
    fault, *_ = faults({command: {**HONEST[command], **answer}})
    assert words in fault


@pytest.mark.parametrize("name", ["memory_mib", "descriptors", "threads"])
def test_what_grows_is_named(name: str) -> None:
    grown = [replace(QUIET, **{name: getattr(QUIET, name) + number}) for number in range(40)]
    assert [each.split()[0] for each in growth(grown).faults()] == [name.partition("_")[0]]


def test_what_stays_is_not_named() -> None:
    warming = [replace(QUIET, memory_mib=50.0 + 5 * number) for number in range(10)]
    assert list(growth([*warming, *[QUIET] * 30]).faults()) == []
