"""Results by content: made once, whole or absent, whatever happens at the same time."""

import hashlib
import os
import re
import shutil
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from packager.core.console import Console
from packager.core.errors import ToolError
from packager.files import host
from packager.files.store import Step, Store, key_of
from packager.files.user_cache import cache_folder
from tests.cases.store import files, put

STEP = Step(name="step", caller="packager.core.errors")


def test_a_result_is_made_once_for_its_inputs_and_step(tmp_path: Path) -> None:
    calls: list[Path] = []

    def make(folder: Path) -> None:
        calls.append(folder)
        (folder / "answer").write_text("42")

    one, two = (Store(tmp_path).results(STEP, {"b": 1, "a": [2]}, make) for _ in range(2))
    assert one == two
    assert (one / "answer").read_text() == "42"
    assert len(calls) == 1
    store = Store(tmp_path)
    first, second = (Step(name=name, caller="packager.core.errors") for name in "ab")
    folders = {
        store.results(step, inputs, lambda folder: None) for step, inputs in ((first, 1), (first, 2), (second, 1))
    }
    assert len(folders) == 3
    assert key_of({"a": 1, "b": 2}) == key_of({"b": 2, "a": 1})
    assert key_of([1, 2]) != key_of([2, 1])
    assert key_of("é") == key_of("\u00e9")
    assert key_of("1") != key_of(1)


def test_a_result_that_is_being_made_is_claimed_for_all_others_that_share_the_store(tmp_path: Path) -> None:
    one, other = (Store(tmp_path, has_claims=True) for _ in range(2))
    assert not other.is_claimed(STEP, "inputs")
    with one.claimed(STEP, "inputs"):
        assert other.is_claimed(STEP, "inputs")
        assert not other.is_claimed(STEP, "other inputs")
    assert not other.is_claimed(STEP, "inputs")


def test_a_result_that_fails_can_be_made_later_and_leaves_no_scratch(tmp_path: Path) -> None:
    def fail(folder: Path) -> None:
        (folder / "half").write_text("x")
        raise KeyboardInterrupt

    store = Store(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        store.results(STEP, 1, fail)
    assert files(tmp_path) == []
    assert (store.results(STEP, 1, lambda folder: None)).is_dir()
    with Store(tmp_path).scratch() as folder:
        (folder / "x").write_text("x")
    assert not folder.exists()


def fill_up(folder: Path) -> None:
    (folder / "half").write_text("x")
    Path("/dev/full").write_text("x")


def test_a_disk_that_takes_nothing_is_a_tool_error(tmp_path: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full, the disk that is always full")
    with pytest.raises(ToolError, match="no space left on the disk of") as error:
        Store(tmp_path).results(STEP, 1, fill_up)
    assert error.value.hint == "free some space, then run again"
    assert files(tmp_path) == []
    (tmp_path / "file").write_text("")
    with pytest.raises(ToolError, match="cannot write to the cache") as error:
        Store(tmp_path / "file" / "store").results(STEP, 1, lambda folder: None)
    assert "XDG_CACHE_HOME" in error.value.hint


@pytest.mark.parametrize("name", [STEP.name, "scratch", ".users"])
def test_a_file_in_place_of_a_folder_of_the_store_is_a_tool_error_that_names_it(tmp_path: Path, name: str) -> None:
    store = Store(tmp_path)
    (tmp_path / name).write_text("")
    with (
        pytest.raises(ToolError, match=f"cannot write to the cache .*: File exists .*{re.escape(name)}"),
        store.in_use(),
    ):
        store.results(STEP, 1, lambda folder: None)


def test_a_file_in_place_of_a_result_is_damage(tmp_path: Path) -> None:
    warnings: list[str] = []
    store = Store(tmp_path, warn=warnings.append)
    entry = store.results(STEP, 1, two_files).parent
    shutil.rmtree(entry)
    entry.write_text("")
    assert files(store.results(STEP, 1, two_files)) == ["below/one", "link", "two"]
    assert [each.partition("damaged ")[2] for each in warnings] == [
        "(index.json cannot be read: Not a directory): it will be made again"
    ]


def test_a_damaged_result_is_not_found(tmp_path: Path) -> None:
    warnings: list[str] = []
    store = Store(tmp_path, warnings.append)
    made = store.results(STEP, 1, two_files)
    assert store.find(STEP, 1) == made
    put(made / "two", "x")
    assert store.find(STEP, 1) is None
    assert not made.exists()
    assert len(warnings) == 1
    assert store.find(STEP, 1) is None
    assert len(warnings) == 1


def two_files(folder: Path) -> None:
    (folder / "below").mkdir()
    (folder / "below" / "one").write_text("1")
    (folder / "two").write_text("2")
    (folder / "link").symlink_to("below/one")


def relink(path: Path, target: str) -> None:
    path.unlink()
    path.symlink_to(target)


DAMAGE: dict[str, tuple[Callable[[Path], object], str]] = {
    "a bit": (lambda made: put(made / "below" / "one", "0"), "below/one has changed"),
    "a cut": (lambda made: put(made / "two", ""), "two has 0 bytes of 1"),
    "a file less": (lambda made: (made / "two").unlink(), "two is missing"),
    "a file more": (lambda made: (made / "below" / "three").write_text("3"), "below/three does not belong there"),
    "another link": (lambda made: relink(made / "link", "two"), "link is a different link"),
    "a link less": (lambda made: (made / "link").unlink(), "link is a different link"),
    "a link for a file": (lambda made: relink(made / "two", "below/one"), "two is not a file"),
    "no index": (lambda made: made.with_name("index.json").unlink(), "index.json is missing"),
    "a cut index": (lambda made: put(made.with_name("index.json"), '{"files"'), "index.json is not what was written"),
    "another index": (lambda made: put(made.with_name("index.json"), "[]"), "index.json is not what was written"),
    "no folder": (lambda made: made.rename(made.with_name("elsewhere")), "files is missing"),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_result_is_made_anew_with_one_warning(tmp_path: Path, damage: str) -> None:
    warnings: list[str] = []
    store = Store(tmp_path, warnings.append)
    made = store.results(STEP, 1, two_files)
    change, words = DAMAGE[damage]
    change(made)

    assert store.results(STEP, 1, two_files) == made

    assert files(made) == ["below/one", "link", "two"]
    assert [(made / name).read_text() for name in files(made)] == ["1", "1", "2"]
    assert warnings == [f"stored result step/{made.parent.name[:12]} is damaged ({words}): it will be made again"]
    assert store.results(STEP, 1, two_files) == made
    assert len(warnings) == 1
    assert files(tmp_path / "scratch") == []


def test_a_file_is_read_once_unless_it_looks_different(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = Store(tmp_path).results(STEP, 1, two_files)
    read: list[object] = []
    digest = hashlib.file_digest

    def counted(file: Any, name: str) -> Any:
        read.append(os.fstat(file.fileno()).st_ino)
        return digest(file, name)

    monkeypatch.setattr(hashlib, "file_digest", counted)
    assert Store(tmp_path).find(STEP, 1) == made
    assert read == []
    os.utime(made / "two", (1, 1))
    assert Store(tmp_path).find(STEP, 1) == made
    assert read == [(made / "two").stat().st_ino]


def test_all_of_a_result_is_on_the_disk_before_it_has_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files, their index and every folder; then the folder with the new name."""
    synced: list[tuple[str, bool]] = []
    target = tmp_path / "step"

    def noted(path: Path) -> None:
        synced.append((path.name, any(target.iterdir()) if target.is_dir() else False))
        sync(path)

    sync = host.sync
    monkeypatch.setattr(host, "sync", noted)
    Store(tmp_path).results(STEP, 1, two_files)
    before = {name for name, is_named in synced if not is_named}
    assert before == {"below", "one", "two", "index.json", "files", "entry"}
    assert synced[-1] == ("step", True)


def test_who_has_a_damaged_file_open_reads_on(tmp_path: Path) -> None:
    store = Store(tmp_path, lambda text: None)
    made = store.results(STEP, 1, two_files)
    put(made / "two", "x")
    with (made / "two").open() as reader:
        store.results(STEP, 1, two_files)
        assert reader.read() == "x"
    assert (made / "two").read_text() == "2"


def test_what_makes_a_result_anew_may_fail_and_the_damage_is_gone(tmp_path: Path) -> None:
    def fail(folder: Path) -> None:
        raise ToolError("no network")

    store = Store(tmp_path, lambda text: None)
    made = store.results(STEP, 1, two_files)
    put(made / "two", "x")
    with pytest.raises(ToolError):
        store.results(STEP, 1, fail)
    assert not made.exists()


def test_a_store_warns_on_standard_error_by_default(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = Store(tmp_path)
    made = store.results(STEP, 1, two_files)
    put(made / "two", "x")
    store.results(STEP, 1, two_files)
    assert capsys.readouterr().err == (
        f"warning: stored result step/{made.parent.name[:12]} is damaged (two has changed): it will be made again\n"
    )


@pytest.mark.parametrize("before", [None, 0o755, 0o770, 0o700])
def test_the_cache_folder_is_its_users(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: int | None) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    if before is not None:
        (tmp_path / "mobpack").mkdir()
        (tmp_path / "mobpack").chmod(before)
    monkeypatch.setattr(host, "os", os)  # also where this runs as on Windows, which closes homes itself
    assert stat.S_IMODE(cache_folder().stat().st_mode) == 0o700


def test_a_warning_about_the_store_is_not_in_the_manifest() -> None:
    console = Console()
    console.caution("of this machine")
    console.warn("of the model")
    assert console.warnings == ["of the model"]


def test_the_cache_folder_of_another_user_stays_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Several users share it, or a container has it from its image."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    (tmp_path / "mobpack").mkdir()
    (tmp_path / "mobpack").chmod(0o755)
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    assert stat.S_IMODE(cache_folder().stat().st_mode) == 0o755
