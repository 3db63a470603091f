"""Pruning of the store: oversize, old and damaged entries go; entries that a build uses stay."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from packager.files.store import Store
from packager.files.store.pruning import prune
from tests.cases.cli import in_process
from tests.cases.store_pruning import ONE, folder, kept, store, used

__all__ = ["folder", "store"]

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


def cache(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return in_process("cache", *arguments, environment={**os.environ, "XDG_CACHE_HOME": str(folder)})


def test_the_command_shows_what_is_stored(folder: Path) -> None:
    done = cache(folder)
    assert (done.returncode, done.stderr) == (0, "")
    (row,) = (line.split() for line in done.stdout.splitlines() if line.startswith(" one "))
    assert row[:2] == ["one", "4"]
    assert "4 results, 30." in done.stdout
    assert "removed" not in done.stdout


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


def test_the_command_removes_by_age(folder: Path) -> None:
    done = cache(folder, "--max-age", "0.15")
    assert done.returncode == 0
    assert done.stdout.count("removed one/") == 2
    assert "2 results" in done.stdout


def test_a_cache_that_is_not_there_is_empty(tmp_path: Path) -> None:
    done = cache(tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "0 results, 0 B" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "words"), [("--max-size lots", "is not a size"), ("--max-age -1", "not in the range")]
)
def test_what_is_no_size_or_age_is_refused(tmp_path: Path, arguments: str, words: str) -> None:
    done = cache(tmp_path, *arguments.split())
    assert done.returncode == 2
    assert words in done.stderr
