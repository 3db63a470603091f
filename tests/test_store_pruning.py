"""Pruning of the store: oversize, old and damaged entries go; entries that a build uses stay."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from packager.core.errors import ToolError
from packager.files.store import Step, Store
from packager.files.store.index import INDEX
from packager.files.store.pruning import EVERY_S, PRUNED, entries, prune, prune_at_times, verify
from tests.toolchain import command

ONE, TWO = (Step(name=name, caller="packager.core.errors") for name in ("one", "two"))
HOUR_S = 60 * 60
USER = """
import os, sys, time
from pathlib import Path
from packager.files.store import Store

store = Store(Path(sys.argv[1]))
with store.in_use():
    (file,) = (store.root / ".users").iterdir()
    os.utime(file, (time.time() - 3 * 60 * 60,) * 2)
    print("ready", flush=True)
    sys.stdin.read()
"""


def of_size(count: int) -> Callable[[Path], None]:
    def make(folder: Path) -> None:
        (folder / "file").write_bytes(b"x" * count)

    return make


def used(made: Path, hours_ago: float) -> None:
    index = made.with_name(INDEX)
    os.utime(index, (time.time() - hours_ago * HOUR_S,) * 2)


def kept(store: Store, step: Step = ONE) -> list[int]:
    """Which of ten results exist; the question does not count as a use."""
    return [number for number in range(10) if (store.root / step.name / step.key(number)).exists()]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Four results of 10 kB, used 5, 4, 3 and 2 hours ago."""
    store = Store(tmp_path)
    for number in range(4):
        used(store.results(ONE, number, of_size(10_000)), 5 - number)
    return store


def test_entries_are_those_of_all_steps_the_one_used_longest_ago_first(store: Store) -> None:
    used(store.results(TWO, 0, of_size(1)), 4.5)
    found = entries(store)
    assert [entry.step for entry in found] == ["one", "two", "one", "one", "one"]
    assert all(10_000 < entry.size_bytes < 10_500 for entry in found if entry.step == "one")


def test_the_results_used_longest_ago_go_until_the_rest_fits(store: Store) -> None:
    removed = prune(store, max_bytes=25_000)
    assert [entry.key for entry in removed] == [ONE.key(0), ONE.key(1)]
    assert kept(store) == [2, 3]
    assert prune(store, max_bytes=25_000) == ()
    assert list((store.root / "scratch").iterdir()) == []


def test_commands_look_at_the_whole_store_once_in_ten_minutes(store: Store) -> None:
    assert len(prune_at_times(store, max_bytes=35_000)) == 1
    assert prune_at_times(store, max_bytes=15_000) == ()
    for seconds in (EVERY_S + 1, -EVERY_S):  # the clock may have been set back
        os.utime(store.root / PRUNED, (time.time() - seconds,) * 2)
        used(store.results(ONE, 0, of_size(10_000)), 5)
        assert [entry.key for entry in prune_at_times(store, max_bytes=35_000)] == [ONE.key(0)]
    assert kept(store) == [1, 2, 3]


def test_to_use_a_result_keeps_it(store: Store) -> None:
    assert store.find(ONE, 0)
    store.results(ONE, 1, of_size(1))
    prune(store, max_bytes=25_000)
    assert kept(store) == [0, 1]


def test_results_that_were_not_used_for_long_go(store: Store) -> None:
    assert len(prune(store, max_bytes=None, max_age_s=3.5 * HOUR_S)) == 2
    assert kept(store) == [2, 3]
    assert prune(store) == ()


def test_what_was_used_within_the_last_hour_stays_however_much_it_is(store: Store) -> None:
    store.results(ONE, 4, of_size(10_000))
    prune(store, max_bytes=0, max_age_s=0)
    assert kept(store) == [4]


@pytest.mark.programs
def test_what_a_running_build_may_have_used_stays_until_it_ends_or_is_killed(store: Store) -> None:
    """It began three hours ago: entries used since an hour before that are kept."""
    with subprocess.Popen(
        [sys.executable, "-c", USER, str(store.root)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as user:
        assert user.stdout
        assert user.stdout.readline() == "ready\n"
        used(store.root / ONE.name / ONE.key(1) / "files", 3.9)
        prune(store, max_bytes=0)
        assert kept(store) == [1, 2, 3]
        user.kill()
    prune(store, max_bytes=0)
    assert kept(store) == []
    assert list((store.root / ".users").iterdir()) == []


def test_a_build_that_ends_leaves_no_trace_of_its_use(store: Store) -> None:
    with store.in_use():
        assert len(list((store.root / ".users").iterdir())) == 1
    assert list((store.root / ".users").iterdir()) == []


def test_files_that_results_share_count_once_for_the_one_used_last(tmp_path: Path) -> None:
    store = Store(tmp_path)
    first = store.results(ONE, 0, of_size(10_000))
    second = store.results(ONE, 1, lambda folder: (folder / "same").hardlink_to(first / "file"))
    used(first, 5)
    used(second, 4)
    old, new = entries(store)
    assert old.size_bytes < 1_000 < 10_000 < new.size_bytes


def test_results_of_an_earlier_layout_go_like_others_and_are_no_damage(store: Store) -> None:
    folder = store.root / "one" / "old"
    folder.mkdir()
    (folder / "model.ort").write_bytes(b"x" * 10_000)
    os.utime(folder, (time.time() - 9 * HOUR_S,) * 2)
    assert list(verify(store)) == []
    assert [entry.path for entry in prune(store, max_bytes=45_000)] == [folder]


def test_verify_removes_what_is_damaged_and_says_what_is_wrong(store: Store) -> None:
    (store.root / ONE.name / ONE.key(1) / "files" / "file").write_bytes(b"y" * 9)
    (store.root / ONE.name / ONE.key(2) / INDEX).unlink()
    found = {entry.key: damage for entry, damage in verify(store)}
    assert found == {ONE.key(1): "file has 9 bytes of 10000", ONE.key(2): "index.json is missing"}
    assert kept(store) == [0, 3]


def test_unfinished_statistics_and_scratch_are_no_results(store: Store) -> None:
    (store.root / "unfinished").mkdir()
    (store.root / "unfinished" / "statistics.npz").write_bytes(b"x" * 10_000)
    with store.scratch():
        assert {entry.step for entry in entries(store)} == {"one"}


def test_a_reader_that_was_first_keeps_its_file(store: Store) -> None:
    made = store.root / ONE.name / ONE.key(0) / "files"
    with (made / "file").open("rb") as reader:
        prune(store, max_bytes=0)
        assert not made.exists()
        assert len(reader.read()) == 10_000


def test_a_store_in_a_place_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ToolError, match="cannot write to the cache"), Store(tmp_path / "file" / "store").in_use():
        pass


def cache(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return command.run("cache", *arguments, environment={**os.environ, "XDG_CACHE_HOME": str(folder)})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A cache with the results of `store`, one of them damaged."""
    store = Store(tmp_path / "mobpack" / "store")
    for number in range(4):
        used(store.results(ONE, number, of_size(10_000)), 5 - number)
    (store.root / ONE.name / ONE.key(3) / "files" / "file").unlink()
    return tmp_path


@pytest.mark.programs
def test_the_command_shows_what_is_stored(folder: Path) -> None:
    done = cache(folder)
    assert (done.returncode, done.stderr) == (0, "")
    (row,) = (line.split() for line in done.stdout.splitlines() if line.startswith(" one "))
    assert row[:2] == ["one", "4"]
    assert "4 results, 30." in done.stdout
    assert "removed" not in done.stdout


@pytest.mark.programs
def test_the_command_as_json(folder: Path) -> None:
    document = json.loads(cache(folder, "--verify", "--max-size", "25kB", "--json").stdout)
    assert document["schema-version"] == 1
    assert document["folder"] == str(folder / "mobpack" / "store")
    (step,) = document["steps"]
    assert (step["name"], step["entries"]) == ("one", 2)
    assert step["size-bytes"] == document["size-bytes"] < 25_000
    assert len(step["oldest-use"]) == len("2026-01-31T23:59:59Z")
    assert [each["key"] for each in document["removed"]] == [ONE.key(3), ONE.key(0)]
    assert [each["reason"] for each in document["removed"]] == ["damaged: file is missing", "not needed"]


@pytest.mark.programs
def test_the_command_removes_by_age(folder: Path) -> None:
    done = cache(folder, "--max-age", "0.15")
    assert done.returncode == 0
    assert done.stdout.count("removed one/") == 2
    assert "2 results" in done.stdout


@pytest.mark.programs
def test_a_cache_that_is_not_there_is_empty(tmp_path: Path) -> None:
    done = cache(tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "0 results, 0 B" in done.stdout


@pytest.mark.programs
@pytest.mark.parametrize(
    ("arguments", "words"), [("--max-size lots", "is no size"), ("--max-age -1", "not in the range")]
)
def test_what_is_no_size_or_age_is_refused(tmp_path: Path, arguments: str, words: str) -> None:
    done = cache(tmp_path, *arguments.split())
    assert done.returncode == 2
    assert words in done.stderr
