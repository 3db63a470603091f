"""The order in which test files run."""

from pathlib import Path

from tests.durations import in_order, known, renewed

TESTS = Path(__file__).parent


def test_durations_that_were_measured_replace_older_ones() -> None:
    old = {"test_store.py": 9, "test_names.py": 30, "test_that_is_gone.py": 50}
    assert renewed(old, {"test_names.py": 3.6, "test_docs.py": 12.2, "test_cli.py": 0.8}) == {
        "test_docs.py": 12,
        "test_store.py": 9,
        "test_names.py": 4,
        "test_cli.py": 1,
    }


def test_long_files_run_first_and_those_that_nobody_measured_among_them() -> None:
    names = ["test_short.py", "test_new.py", "test_longest.py", "test_other.py"]
    seconds = {"test_short.py": 1, "test_longest.py": 200, "test_other.py": 1}
    assert in_order(names, seconds) == ["test_longest.py", "test_new.py", "test_other.py", "test_short.py"]


def test_files_that_are_known_exist() -> None:
    assert {name for name in known() if not (TESTS / name).is_file()} == set()
