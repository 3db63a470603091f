"""Data files of weights: aligned, shared, and copied by the kernel if possible."""

import errno
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from packager.core.errors import ModelError
from packager.graph.weights.places import ALIGNMENT_BYTES, Place
from packager.graph.weights.writing import WeightFile
from tests.cases.tensors_writing import content


@pytest.fixture
def source(tmp_path: Path) -> Place:
    path = tmp_path / "source.bin"
    path.write_bytes(b"before" + bytes(range(256)) * 20 + b"behind")
    return Place(path, 6, 256 * 20)


def test_tensors_follow_each_other_at_cache_lines(tmp_path: Path, source: Place) -> None:
    file = WeightFile(tmp_path / "w.data")
    places = [file.append([b"abc", b"", b"de"]), file.copy(source), file.append([]), file.append([b"f"])]
    assert [content(place) for place in places] == [b"abcde", content(source), b"", b"f"]
    assert [place.offset % ALIGNMENT_BYTES for place in places] == [0] * 4
    assert file.size_bytes == file.path.stat().st_size == places[-1].offset + 1


def test_a_source_is_copied_once(tmp_path: Path, source: Place) -> None:
    file = WeightFile(tmp_path / "w.data")
    assert file.copy(source) == file.copy(source)
    assert file.path.stat().st_size == source.length


def test_no_file_is_there_before_something_is_written(tmp_path: Path) -> None:
    file = WeightFile(tmp_path / "w.data")
    assert not file.path.exists()
    file.path.write_bytes(b"of an earlier run")
    assert content(file.append([b"new"])) == file.path.read_bytes() == b"new"


@pytest.mark.parametrize("error", [errno.EXDEV, errno.ENOSYS])
def test_bytes_are_copied_where_the_kernel_does_not(
    tmp_path: Path, source: Place, monkeypatch: pytest.MonkeyPatch, error: int
) -> None:
    asked = []

    def refuse(*arguments: Any) -> int:
        asked.append(arguments)
        raise OSError(error, os.strerror(error))

    monkeypatch.setattr(os, "copy_file_range", refuse, raising=False)
    file = WeightFile(tmp_path / "w.data")
    file.append([b"x"])
    assert content(file.copy(source)) == content(source)
    assert asked


def test_bytes_are_copied_without_the_call(tmp_path: Path, source: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "copy_file_range", raising=False)
    assert content(WeightFile(tmp_path / "w.data").copy(source)) == content(source)


def test_the_kernel_copies_in_any_parts(tmp_path: Path, source: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    if not hasattr(os, "copy_file_range"):
        pytest.skip("this system has no copy_file_range")
    whole = os.copy_file_range

    def part(one: int, other: int, count: int, offset: int) -> int:
        return whole(one, other, min(count, 1000), offset)

    monkeypatch.setattr(os, "copy_file_range", part)
    assert content(WeightFile(tmp_path / "w.data").copy(source)) == content(source)


@pytest.mark.parametrize("is_in_kernel", [True, False])
def test_a_source_that_ends_too_early_is_named(
    tmp_path: Path, source: Place, monkeypatch: pytest.MonkeyPatch, is_in_kernel: bool
) -> None:
    if not is_in_kernel:
        monkeypatch.delattr(os, "copy_file_range", raising=False)
    source.path.write_bytes(bytes(1000))
    with pytest.raises(ModelError, match=r"source\.bin: the last 4,126 bytes of a tensor are missing"):
        WeightFile(tmp_path / "w.data").copy(source)


def test_what_a_failed_write_left_is_written_over(tmp_path: Path) -> None:
    file = WeightFile(tmp_path / "w.data")
    file.append([b"first"])

    def failing() -> Iterator[bytes]:
        yield bytes(100_000)
        raise ModelError("no more")

    with pytest.raises(ModelError, match="no more"):
        file.append(failing())
    place = file.append([b"second"])
    assert (place.offset, content(place)) == (ALIGNMENT_BYTES, b"second")
    assert file.path.stat().st_size == file.size_bytes
