"""Pruning of the store: oversize, old and damaged entries go; entries that a build uses stay."""

import os
import time
from pathlib import Path

import pytest

from packager.core.errors import ToolError
from packager.files.store import Store
from packager.files.store.index import INDEX
from packager.files.store.pruning import EVERY_S, PRUNED, entries, prune, prune_at_times, verify
from tests.cases.store_pruning import HOUR_S, ONE, TWO, folder, kept, of_size, store, used

__all__ = ["folder", "store"]


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


def test_commands_look_at_the_whole_store_once_in_ten_minutes(store: Store) -> None:
    assert len(prune_at_times(store, max_bytes=35_000)) == 1
    assert prune_at_times(store, max_bytes=15_000) == ()
    for seconds in (EVERY_S + 1, -EVERY_S):  # the clock may have been set back
        os.utime(store.root / PRUNED, (time.time() - seconds,) * 2)
        used(store.results(ONE, 0, of_size(10_000)), 5)
        assert [entry.key for entry in prune_at_times(store, max_bytes=35_000)] == [ONE.key(0)]
    assert kept(store) == [1, 2, 3]


def test_leftovers_and_results_of_other_layouts_are_no_damage(store: Store) -> None:
    with store.in_use():
        assert len(list((store.root / ".users").iterdir())) == 1
    assert list((store.root / ".users").iterdir()) == []
    folder = store.root / "one" / "old"
    folder.mkdir()
    (folder / "model.ort").write_bytes(b"x" * 10_000)
    os.utime(folder, (time.time() - 9 * HOUR_S,) * 2)
    assert list(verify(store)) == []
    assert [entry.path for entry in prune(store, max_bytes=45_000)] == [folder]
    (store.root / "unfinished").mkdir()
    (store.root / "unfinished" / "statistics.npz").write_bytes(b"x" * 10_000)
    with store.scratch():
        assert {entry.step for entry in entries(store)} == {"one"}
    (store.root / ONE.name / ONE.key(1) / "files" / "file").write_bytes(b"y" * 9)
    (store.root / ONE.name / ONE.key(2) / INDEX).unlink()
    found = {entry.key: damage for entry, damage in verify(store)}
    assert found == {ONE.key(1): "file has 9 bytes of 10000", ONE.key(2): "index.json is missing"}
    assert kept(store) == [0, 3]


def test_files_that_results_share_count_once_for_the_one_used_last(tmp_path: Path) -> None:
    store = Store(tmp_path)
    first = store.results(ONE, 0, of_size(10_000))
    second = store.results(ONE, 1, lambda folder: (folder / "same").hardlink_to(first / "file"))
    used(first, 5)
    used(second, 4)
    old, new = entries(store)
    assert old.size_bytes < 1_000 < 10_000 < new.size_bytes


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
