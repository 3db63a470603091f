"""Locks, links and renames, in the way of the system that runs; also run as on others (tests/elsewhere)."""

import os
import threading
from pathlib import Path

import pytest

from packager.core.errors import ToolError
from packager.files import host


@pytest.mark.parametrize("is_folder", [False, True])
def test_a_lock_keeps_others_out_until_it_is_closed(tmp_path: Path, is_folder: bool) -> None:
    def opened() -> int:
        return host.opened_folder(tmp_path) if is_folder else os.open(tmp_path / "lock", os.O_RDWR | os.O_CREAT)

    first, second = opened(), opened()
    try:
        assert host.lock(first)
        assert not host.lock(second, waits=False)
    finally:
        os.close(first)
    assert host.lock(second, waits=False)
    os.close(second)


def test_who_waits_gets_the_lock_once_it_is_free(tmp_path: Path) -> None:
    first, second = (os.open(tmp_path / "lock", os.O_RDWR | os.O_CREAT) for _ in range(2))
    host.lock(first)
    waiting = threading.Thread(target=lambda: host.lock(second))
    waiting.start()
    waiting.join(0.3)
    assert waiting.is_alive()
    os.close(first)
    waiting.join(60)
    assert not waiting.is_alive()
    os.close(second)


def test_a_file_is_renamed_though_somebody_has_it_open_for_a_moment(tmp_path: Path) -> None:
    made, target = tmp_path / "made", tmp_path / "target"
    made.write_text("new", encoding="utf-8")
    target.write_text("old", encoding="utf-8")
    file = target.open("rb")
    closing = threading.Timer(0.3, file.close)
    closing.start()
    host.replace(made, target)
    closing.join()
    assert target.read_text(encoding="utf-8") == "new"


def test_files_are_synced_and_a_link_that_is_refused_says_why(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("content", encoding="utf-8")
    host.sync(tmp_path / "file")
    host.sync(tmp_path)
    with pytest.raises(FileNotFoundError):
        host.link(tmp_path / "no folder" / "link", "target")


def test_a_link_that_windows_refuses_is_a_tool_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*rest: object, **options: object) -> None:
        error = OSError(22, "A required privilege is not held by the client")
        error.winerror = host.NO_PRIVILEGE  # type: ignore[attr-defined]
        raise error

    monkeypatch.setattr(Path, "symlink_to", refused)
    with pytest.raises(ToolError, match="cannot make the symbolic link") as error:
        host.link(tmp_path / "link", "target")
    assert "developer mode" in error.value.hint
