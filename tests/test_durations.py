"""The order in which test files run."""

from pathlib import Path

from tests.durations import known, renewed

TESTS = Path(__file__).parent


def test_durations_that_were_measured_replace_older_ones() -> None:
    old = {"test_store.py": 9, "test_names.py": 30, "test_that_is_gone.py": 50}
    assert renewed(old, {"test_names.py": 3.6, "test_docs.py": 12.2, "test_cli.py": 0.8}) == {
        "test_docs.py": 12,
        "test_store.py": 9,
        "test_names.py": 4,
    }


def test_files_that_are_known_exist() -> None:
    assert {name for name in known() if not (TESTS / name).is_file()} == set()
