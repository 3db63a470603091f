"""Zip archives: same input same bytes, whole or absent, no name that leaves the archive."""

import hashlib
import zipfile
from pathlib import Path, PurePosixPath

import pytest

from packager.core.errors import ToolError
from packager.files.atomic import atomic_file
from packager.files.zips import ZipLink, is_link, write_zip
from tests.cases.archives import read_zip

ENTRIES = {PurePosixPath("b/two.txt"): b"two\n", PurePosixPath("a.bin"): bytes(1000), PurePosixPath("é.txt"): b"e"}


def test_same_entries_in_any_order_give_the_bytes_that_every_machine_writes(tmp_path: Path) -> None:
    one = write_zip(tmp_path / "one.zip", ENTRIES)
    two = write_zip(tmp_path / "elsewhere" / "two.zip", dict(reversed(ENTRIES.items())))
    assert one.read_bytes() == two.read_bytes()
    written = write_zip(tmp_path / "one.zip", ENTRIES)
    assert hashlib.sha256(written.read_bytes()).hexdigest() == (
        "3ffa93ef3e01987e01e71650ddcb6fba682cf889f6058e4bf748e0e7c15934e6"
    )
    with zipfile.ZipFile(write_zip(tmp_path / "one.zip", ENTRIES)) as archive:
        assert archive.testzip() is None
        assert archive.namelist() == ["a.bin", "b/two.txt", "é.txt"]
        for info in archive.infolist():
            assert (info.date_time, info.compress_type, info.create_system) == ((1980, 1, 1, 0, 0, 0), 0, 3)
            assert info.external_attr >> 16 == 0o100644


def test_what_was_written_is_read_back_with_its_links(tmp_path: Path) -> None:
    assert read_zip(write_zip(tmp_path / "one.zip", ENTRIES)) == ENTRIES
    path = write_zip(tmp_path / "a.zip", {PurePosixPath("Current"): ZipLink("A"), PurePosixPath("A"): b"code"})
    with zipfile.ZipFile(path) as archive:
        link, file = archive.getinfo("Current"), archive.getinfo("A")
        assert (is_link(link), archive.read(link)) == (True, b"A")
        assert not is_link(file)


@pytest.mark.parametrize("name", ["/etc/passwd", "../up", "a/../../up", ".", "a\\b", "C:/windows"])
def test_a_name_that_leaves_the_archive_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match="not a relative path"):
        write_zip(tmp_path / "one.zip", {PurePosixPath(name): b""})
    assert list(tmp_path.iterdir()) == []


def test_an_archive_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"a file and a folder at once in an archive: 'assets'"):
        write_zip(tmp_path / "one.zip", {PurePosixPath("assets"): b"", PurePosixPath("assets/a/b"): b""})
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(ToolError, match="cannot write") as caught:
        write_zip(tmp_path / "file" / "one.zip", ENTRIES)
    assert "permissions" in caught.value.hint


def test_a_failure_in_the_middle_leaves_the_old_archive_whole(tmp_path: Path) -> None:
    path = write_zip(tmp_path / "one.zip", ENTRIES)
    before = path.read_bytes()
    with pytest.raises(ToolError, match="cannot write"):
        write_zip(path, {PurePosixPath("a"): b"1", PurePosixPath("b"): tmp_path / "absent.ort"})
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_an_interrupt_in_the_middle_leaves_nothing_behind(tmp_path: Path) -> None:
    def interrupted() -> None:
        with atomic_file(tmp_path / "one.zip") as file:
            file.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert list(tmp_path.iterdir()) == []
