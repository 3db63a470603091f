"""`mobpack verify --rebuild`: the project gives the same bytes again, and a difference is explained."""

import io
import json
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from packager.distribution.provenance.comparing import FileDifference, compare_folders
from tests.cases.cli import mobpack

__all__ = ["mobpack"]


def difference(first: bytes, second: bytes, tmp_path: Path, name: str) -> FileDifference:
    for folder, content in (("one", first), ("two", second)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / name).write_bytes(content)
    (found,) = compare_folders(tmp_path / "one", tmp_path / "two").differences
    return found


def as_json(value: Any) -> bytes:
    return json.dumps(value).encode()


@pytest.mark.parametrize(
    ("name", "first", "second", "words"),
    [
        ("a.json", as_json({"a": [{"b": 1}]}), as_json({"a": [{"b": 2}]}), "a.json: a.0.b is 1, rebuilt 2"),
        ("a.json", as_json({"a": 1, "b": 2}), as_json({"a": 1}), "a.json: b is only in this release"),
        ("a.json", as_json({"a": 1}), as_json({"a": 1, "b": 2}), "a.json: b is only in the rebuilt one"),
        ("a.json", as_json({"a": [1]}), as_json({"a": [1, 2]}), "a.json: a has 1 entries, 2 rebuilt"),
        ("a.json", b'{"a": 1}', b'{"a":  1}', "a.json: line 1 differs"),
        ("a.txt", b"a\nb\nc\n", b"a\nb\nd\n", "a.txt: line 3 differs"),
        ("a.bin", b"\0abc", b"\0abd", "a.bin: the first other byte is at 3 of 4"),
        ("a.txt", b"abc", b"abcd", "a.txt: 3 bytes, 4 rebuilt"),
    ],
)
def test_the_first_difference_is_named(name: str, first: bytes, second: bytes, words: str, tmp_path: Path) -> None:
    assert difference(first, second, tmp_path, name).sentence == words


def zipped(members: dict[str, bytes], compression: int = zipfile.ZIP_STORED) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", compression) as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name), content, compress_type=compression)
    return packed.getvalue()


def tarred(members: dict[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for name, content in members.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return packed.getvalue()


@pytest.mark.parametrize(("name", "packed"), [("a.zip", zipped), ("a.tgz", tarred)])
def test_files_in_archives_are_named(name: str, packed: Callable[[dict[str, bytes]], bytes], tmp_path: Path) -> None:
    first = {"same": b"s", "x": b"1", "y": b"1", "gone": b"1", "z": b"1"}
    second = {"same": b"s", "x": b"2", "y": b"2", "new": b"1", "z": b"2"}
    found = difference(packed(first), packed(second), tmp_path, name)
    assert found.inside == ("gone", "new", "x", "y", "z")
    listed = "gone (only in this release), new (only in the rebuilt one), x and 2 more differ"
    assert found.sentence == f"{name}: in it {listed}"


def test_archives_may_be_packed_in_another_way(tmp_path: Path) -> None:
    members = {"a": b"a" * 1000}
    found = difference(zipped(members), zipped(members, zipfile.ZIP_DEFLATED), tmp_path, "a.aar")
    assert (found.inside, found.where) == ((), "the same files, packed in another way")
