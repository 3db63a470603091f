"""A release takes its place whole, or the previous one stays whole."""

import errno
import os
import shutil
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import FrameType, SimpleNamespace

import pytest

from packager.core.errors import ConfigError, ToolError
from packager.distribution.release import MANIFEST, staged
from packager.files import exchange as exchanging
from packager.files import replaced_folder
from packager.files.exchange import RENAME_SWAP, exchange, native
from packager.files.replaced_folder import interrupts_deferred
from tests.cases.publish import dist, files, names, publish

__all__ = ["dist"]


def test_a_release_appears_in_a_folder_that_was_not_there(tmp_path: Path) -> None:
    publish(tmp_path / "a b" / "dist ä", "new")
    assert sorted(files(tmp_path)) == ["a b/dist ä/android/new.aar", "a b/dist ä/manifest.json"]


def test_a_release_is_replaced_as_a_whole(dist: Path) -> None:
    publish(dist, "new")
    assert sorted(files(dist)) == ["android/new.aar", "manifest.json"]
    assert names(dist.parent) == ["dist"]


def test_an_empty_folder_is_filled(tmp_path: Path) -> None:
    (tmp_path / "dist").mkdir()
    publish(tmp_path / "dist", "new")
    assert "android/new.aar" in files(tmp_path / "dist")


def test_a_link_to_a_folder_stays_a_link(tmp_path: Path, dist: Path) -> None:
    (tmp_path / "link").symlink_to(dist)
    publish(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert "android/new.aar" in files(dist)
    assert names(tmp_path) == ["dist", "link"]


@pytest.mark.parametrize(
    ("mask", "folder", "file"), [(0o022, 0o755, 0o644), (0o027, 0o750, 0o640), (0o2, 0o775, 0o664)]
)
def test_a_release_has_the_users_permissions(tmp_path: Path, mask: int, folder: int, file: int) -> None:
    before = os.umask(mask)
    try:
        publish(tmp_path / "dist", "new")
    finally:
        os.umask(before)
    found = {path.stat().st_mode & 0o777 for path in [tmp_path / "dist", tmp_path / "dist" / "android"]}
    assert found == {folder}
    assert (tmp_path / "dist" / MANIFEST).stat().st_mode & 0o777 == file


@pytest.mark.parametrize("content", [None, "no json", "[]", '["mobpack"]', "5", "{}", '"mobpack"'])
def test_a_folder_with_something_else_in_it_is_refused_and_kept(tmp_path: Path, content: str | None) -> None:
    (tmp_path / "dist").mkdir()
    (tmp_path / "dist" / "thesis.txt").write_text("years of work")
    if content is not None:
        (tmp_path / "dist" / MANIFEST).write_text(content)
    with pytest.raises(ConfigError, match="exists and is not a mobpack release") as error:
        publish(tmp_path / "dist", "new")
    assert error.value.hint == "choose another folder with --out, or empty it"
    assert (tmp_path / "dist" / "thesis.txt").read_text() == "years of work"
    assert names(tmp_path) == ["dist"]


def test_a_file_in_the_place_of_the_folder_is_refused_and_kept(tmp_path: Path) -> None:
    (tmp_path / "dist").write_text("a file")
    with pytest.raises(ConfigError, match="exists and is not a mobpack release"):
        publish(tmp_path / "dist", "new")
    assert (tmp_path / "dist").read_text() == "a file"


def test_a_parent_that_cannot_hold_folders_is_a_tool_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ToolError, match=f"cannot write to {tmp_path}/file: ") as error:
        publish(tmp_path / "file" / "dist", "new")
    assert error.value.hint == "choose another folder with --out"


def test_what_came_into_the_folder_during_the_build_is_not_thrown_away(tmp_path: Path) -> None:
    (tmp_path / "dist").mkdir()
    with pytest.raises(ConfigError, match="exists and is not a mobpack release"), staged(tmp_path / "dist"):
        (tmp_path / "dist" / "thesis.txt").write_text("years of work")
    assert (tmp_path / "dist" / "thesis.txt").read_text() == "years of work"
    assert names(tmp_path) == ["dist"]


def fail_half_way(out: Path, failure: BaseException | None) -> None:
    """Interrupt the making of a release with `failure`, or with Ctrl-C."""
    with staged(out) as staging:
        (staging / "half").write_text("x")
        if failure:
            raise failure
        os.kill(os.getpid(), signal.SIGINT)
        raise AssertionError("Ctrl-C had no effect")


@pytest.mark.parametrize("failure", [KeyboardInterrupt(), ValueError("a bug"), ToolError("a tool")])
def test_a_build_that_fails_leaves_the_previous_release_whole(dist: Path, failure: BaseException) -> None:
    before = files(dist)
    with pytest.raises(type(failure)):
        fail_half_way(dist, failure)
    assert files(dist) == before
    assert names(dist.parent) == ["dist"]


def test_ctrl_c_in_the_middle_leaves_the_previous_release_whole(dist: Path) -> None:
    before = files(dist)
    with pytest.raises(KeyboardInterrupt):
        fail_half_way(dist, None)
    assert files(dist) == before
    assert names(dist.parent) == ["dist"]


def interrupt(number: signal.Signals, steps: list[str]) -> None:
    with interrupts_deferred():
        os.kill(os.getpid(), number)
        steps.append("still here")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_while_the_release_is_put_in_place_waits_for_it(number: signal.Signals) -> None:
    steps: list[str] = []
    before = [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)]
    with pytest.raises(KeyboardInterrupt):
        interrupt(number, steps)
    assert steps == ["still here"]
    assert [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)] == before


def publish_interrupted(out: Path, number: signal.Signals) -> None:
    """Interrupt at the moment when the previous release is about to be moved away."""

    def watch(frame: FrameType, event: str, argument: object) -> None:
        if event == "call" and frame.f_code.co_name in ("rename", "native"):
            sys.setprofile(None)
            os.kill(os.getpid(), number)

    with staged(out) as staging:
        (staging / MANIFEST).write_text('{"mobpack": "0.1.0"}')
        sys.setprofile(watch)


@pytest.fixture(params=["in one step", "step by step"])
def steps(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both ways to replace a folder; the second is for systems that cannot exchange two."""
    if request.param == "step by step":
        monkeypatch.setattr(replaced_folder, "exchange", lambda one, other: False)
    return str(request.param)


@pytest.mark.usefixtures("steps")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_in_the_middle_of_it_leaves_the_new_release_whole(dist: Path, number: signal.Signals) -> None:
    with pytest.raises(KeyboardInterrupt, match="dist is a mobpack release of this run, and complete"):
        publish_interrupted(dist, number)
    assert sys.getprofile() is None
    assert list(files(dist)) == [MANIFEST]
    assert names(dist.parent) == ["dist"]


FULL = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

IN_WORDS = ToolError("cannot write .dist.1a2b/a: No space left on device")
IN_WORDS.__cause__ = FULL


@pytest.mark.parametrize(
    ("failure", "words"),
    [
        (FULL, "no space left on the disk"),
        (IN_WORDS, "no space left on the disk"),
        (
            shutil.Error([("a", "b", "[Errno 5] Input/output error"), ("c", "d", str(FULL))]),
            "no space left on the disk",
        ),
        (shutil.Error([("a", "b", "[Errno 5] Input/output error")]), "cannot copy files beside .*Input/output error"),
    ],
    ids=["from the system", "in words", "of a copy", "a copy that fails otherwise"],
)
def test_a_full_disk_is_a_tool_error_and_leaves_the_release_whole(dist: Path, failure: Exception, words: str) -> None:
    before = files(dist)
    with pytest.raises(ToolError, match=words):
        fail_half_way(dist, failure)
    assert files(dist) == before
    assert names(dist.parent) == ["dist"]


def test_somebody_who_looks_always_finds_a_whole_release(dist: Path, steps: str) -> None:
    """The folder is read at every call of a function, while the new release replaces the old."""
    found: list[bool] = []

    def watch(frame: FrameType, event: str, argument: object) -> None:
        found.append(os.path.exists(f"{dist}/{MANIFEST}"))  # noqa: PTH110

    with staged(dist) as staging:
        (staging / MANIFEST).write_text('{"mobpack": "0.1.0"}')
        sys.setprofile(watch)
    sys.setprofile(None)
    assert len(found) > 10
    assert all(found) == (steps == "in one step")


def test_exchanges_are_those_that_the_system_has(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    assert not exchange(tmp_path / "one", tmp_path / "missing")
    assert names(tmp_path) == ["one"]
    calls: list[tuple[bytes, bytes, int]] = []

    def renamex_np(one: bytes, other: bytes, flags: int) -> int:
        calls.append((one, other, flags))
        return 0

    library = SimpleNamespace(renamex_np=renamex_np)
    swap = native("darwin", library)
    assert swap
    assert swap(b"one", b"other") == 0
    assert calls == [(b"one", b"other", RENAME_SWAP)]
    assert native("darwin", SimpleNamespace()) is None
    assert native("sunos5", library) is None


def test_a_release_that_stays_away_is_named_with_the_new_one(dist: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rename = Path.rename

    def only_away(self: Path, target: Path) -> Path:
        if target == dist:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return rename(self, target)

    monkeypatch.setattr(replaced_folder, "exchange", lambda one, other: False)
    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", only_away)
        with pytest.raises(ToolError, match=r"could not be put back \(Input/output error\)") as error:
            publish(dist, "new")
    new, previous = sorted(path for path in dist.parent.iterdir())
    assert previous.name == f"{new.name}.previous"
    assert f"it is in {previous}, the new one in {new}" in error.value.message
    assert error.value.hint == f"move one of them to {dist}; mobpack touches neither"
    assert (list(files(new)), list(files(previous))) == (
        ["manifest.json", "android/new.aar"],
        ["manifest.json", "android/old.aar"],
    )
    for folder in (new, previous):
        os.utime(folder, (0, 0))
    with pytest.raises(ToolError, match="a tool"):
        fail_half_way(dist, ToolError("a tool"))
    assert names(dist.parent) == [new.name, previous.name], "the only copies are never taken for something abandoned"


def test_threads_of_one_process_wait_for_each_other_silently(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    exchange = exchanging.exchange

    def slow(one: Path, other: Path) -> bool:
        time.sleep(0.2)
        return exchange(one, other)

    for name in ("one", "two"):
        publish(tmp_path / name, "old")
    monkeypatch.setattr(replaced_folder, "exchange", slow)
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda name: publish(tmp_path / name, "new"), ("one", "two")))
    assert all(set(files(tmp_path / name)) == {MANIFEST, "android/new.aar"} for name in ("one", "two"))
    assert capfd.readouterr().err == ""
