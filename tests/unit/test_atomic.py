"""Files that appear complete or not at all: nobody guesses their names before, and killed processes leave none."""

import os
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from packager.core.errors import ToolError
from packager.files import atomic
from packager.files.atomic import atomic_file
from tests.cases.atomic import write, write_files


@pytest.mark.parametrize("how", [write, write_files])
def test_a_link_under_the_name_of_an_unfinished_file_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: Callable[[Path], None]
) -> None:
    """The names of processes before, and the name that this one takes, if it could be known."""
    victim = tmp_path / "victim"
    victim.write_bytes(b"precious")
    folder = tmp_path / "shared"
    folder.mkdir()
    for name in (f".out.{os.getpid()}.unfinished", f"{atomic.BEGIN}known{atomic.END}"):
        (folder / name).symlink_to(victim)
    how(folder / "out")
    assert (folder / "out").read_bytes() == b"whole"
    monkeypatch.setattr("secrets.token_hex", lambda count: "known")
    if how is write:
        with pytest.raises(ToolError, match="File exists"):
            how(folder / "out")
    assert victim.read_bytes() == b"precious"


def test_writers_do_not_meet_and_a_failure_leaves_the_file_before(tmp_path: Path) -> None:
    with atomic_file(tmp_path / "out") as one, atomic_file(tmp_path / "out") as other:
        assert len({path.name for path in tmp_path.iterdir()}) == 2
        one.write(b"one")
        other.write(b"other")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"out": b"one"}
    write(tmp_path / "out", b"before")
    with suppress(KeyError), atomic_file(tmp_path / "out") as file:
        file.write(b"half")
        raise KeyError
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"out": b"before"}


def test_files_have_names_of_any_length_and_the_users_permissions(tmp_path: Path) -> None:
    write(tmp_path / ("n" * 255))
    assert [path.name for path in tmp_path.iterdir()] == ["n" * 255]
    before = os.umask(0o027)
    try:
        write(tmp_path / "out")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == 0o640


@pytest.mark.parametrize("how", [write, write_files])
def test_content_is_on_disk_before_it_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: Callable[[Path], None]
) -> None:
    synced = []
    sync = os.fsync

    def watched(descriptor: int) -> None:
        assert not (tmp_path / "out").exists()
        synced.append(os.fstat(descriptor).st_ino)
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", watched)
    how(tmp_path / "out")
    assert synced == [(tmp_path / "out").stat().st_ino]
