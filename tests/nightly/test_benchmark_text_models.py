"""The benchmark of trained models that make texts: its files, its figures, and the smallest of its models."""

from pathlib import Path

from benchmarks import text_models
from benchmarks.tasks import romanizer
from tests.toolchain.require import fetched


def test_names_are_those_of_a_plain_loop_over_the_published_files(tmp_path: Path) -> None:
    fetched(romanizer.PIN)
    found = text_models.romanized(tmp_path)
    assert found.ours == found.theirs
    assert found.ours[:3] == ["Mohamed", "Ahmed", "Fatma"]
