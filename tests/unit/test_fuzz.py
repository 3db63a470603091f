"""Inputs of fuzzing: those that it begins with, and those that once did harm (`benchmarks/fuzz/found`)."""

from pathlib import Path

import pytest

from benchmarks.fuzz import seeds
from benchmarks.fuzz.child import tried
from benchmarks.fuzz.targets import TARGETS


@pytest.mark.parametrize("name", TARGETS)
def test_inputs_work_or_are_refused_in_words(name: str, tmp_path: Path) -> None:
    inputs = seeds.of(name, TARGETS[name].seeds(tmp_path))
    assert inputs
    for title, content in inputs.items():
        if error := tried(TARGETS[name], content):
            raise AssertionError(f"{name}: {title}") from error
