"""A release takes its place whole, or the previous one stays whole."""

import errno
import json
import os
import signal
import sys
from pathlib import Path
from types import FrameType

import pytest

from packager.errors import ConfigError, ToolError
from packager.release import MANIFEST, staged
from packager.replacing import interrupts_deferred
from tests.disks import tiny_disk


def files(folder: Path) -> dict[str, str]:
    return {path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*") if path.is_file()}


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def publish(out: Path, text: str) -> None:
    with staged(out) as staging:
        (staging / "android").mkdir()
        (staging / "android" / f"{text}.aar").write_text(text)
        (staging / MANIFEST).write_text(json.dumps({"mobpack": "0.1.0", "text": text}))


@pytest.fixture
def dist(tmp_path: Path) -> Path:
    """A release that was there before."""
    publish(tmp_path / "dist", "old")
    return tmp_path / "dist"


def test_a_release_appears_in_a_folder_that_was_not_there(tmp_path: Path) -> None:
    publish(tmp_path / "a b" / "dist ä", "new")
    assert sorted(files(tmp_path)) == ["a b/dist ä/android/new.aar", "a b/dist ä/manifest.json"]


def test_a_release_is_replaced_as_a_whole(dist: Path) -> None:
    publish(dist, "new")
    assert sorted(files(dist)) == ["android/new.aar", "manifest.json"]
    assert names(dist.parent) == ["dist"]


def test_others_can_read_a_release(dist: Path) -> None:
    assert dist.stat().st_mode & 0o777 == 0o755


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


@pytest.mark.parametrize("content", [None, "no json", "[]", '["mobpack"]', "5", "{}", '"mobpack"'])
def test_a_folder_with_something_else_in_it_is_refused_and_kept(tmp_path: Path, content: str | None) -> None:
    (tmp_path / "dist").mkdir()
    (tmp_path / "dist" / "thesis.txt").write_text("years of work")
    if content is not None:
        (tmp_path / "dist" / MANIFEST).write_text(content)
    with pytest.raises(ConfigError, match="exists and is not a mobpack release") as error:
        publish(tmp_path / "dist", "new")
    assert error.value.hint == "choose another folder with --out, or empty this one"
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


def fail_half_way(out: Path, failure: BaseException | None) -> None:
    """Ends the making of a release with `failure`, or with Ctrl-C."""
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
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(KeyboardInterrupt):
        interrupt(number, steps)
    assert steps == ["still here"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert signal.getsignal(signal.SIGTERM) is before


def publish_interrupted_at_the_first_rename(out: Path, number: signal.Signals) -> None:
    """As fast a finger as can be: it arrives when the previous release is about to be moved away."""

    def watch(frame: FrameType, event: str, argument: object) -> None:
        if event == "call" and frame.f_code.co_name == "rename":
            sys.setprofile(None)
            os.kill(os.getpid(), number)

    with staged(out) as staging:
        (staging / MANIFEST).write_text('{"mobpack": "0.1.0"}')
        sys.setprofile(watch)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_between_the_two_renames_leaves_the_new_release_whole(dist: Path, number: signal.Signals) -> None:
    with pytest.raises(KeyboardInterrupt):
        publish_interrupted_at_the_first_rename(dist, number)
    assert sys.getprofile() is None
    assert list(files(dist)) == [MANIFEST]
    assert names(dist.parent) == ["dist"]


def test_a_full_disk_is_a_tool_error_and_leaves_the_previous_release_whole(dist: Path) -> None:
    before = files(dist)
    with pytest.raises(ToolError, match="no space left on the disk"):
        fail_half_way(dist, OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))
    assert files(dist) == before
    assert names(dist.parent) == ["dist"]


def test_a_mount_point_cannot_be_replaced_and_keeps_its_release(dist: Path) -> None:
    with tiny_disk(dist):
        (dist / MANIFEST).write_text('{"mobpack": "0.1.0"}')
        with pytest.raises(ToolError, match=r"cannot put a mobpack release at .*dist: ") as error:
            publish(dist, "new")
        assert sorted(files(dist)) == [MANIFEST]
    assert "a mount point cannot be replaced" in error.value.hint
    assert names(dist.parent) == ["dist"]
