"""Archives for npm: any tar and gzip reads them, and their bytes are the same everywhere."""

import gzip
import io
from pathlib import Path, PurePosixPath

import pytest

from packager.core.errors import ConfigError, ModelError, ToolError
from packager.targets.typescript import tarball
from tests.cases.disks import tiny_disk
from tests.cases.react_native_target import ROOT, unpacked

LONG = PurePosixPath("f" * 60, "g" * 60, "h" * 90)


@pytest.mark.parametrize(
    "content", [b"", b"x", b"y" * 511, b"z" * 512, bytes(range(256)) * 300, b"w" * tarball.MAX_STORED_BYTES]
)
def test_other_programs_read_the_archive_whatever_the_sizes(content: bytes, tmp_path: Path) -> None:
    copied = tmp_path / "file"
    copied.write_bytes(content)
    entries: dict[PurePosixPath, bytes | Path] = {PurePosixPath("a.txt"): content, LONG: b"deep"}
    entries[PurePosixPath("b/c.bin")] = copied
    made = tarball.write_tarball(tmp_path / "made.tgz", entries)
    assert unpacked(made) == {PurePosixPath("a.txt"): content, PurePosixPath("b/c.bin"): content, LONG: b"deep"}
    whole = gzip.decompress(made.read_bytes())
    assert len(whole) % 512 == 0
    assert made.read_bytes()[:10].hex() == "1f8b08000000000000ff", "no name and no time"


def test_what_is_not_compressed_is_read_by_any_gzip() -> None:
    for size in [0, 1, 65534, 65535, 65536, 131070, 131071]:
        content, file = bytes(index % 251 for index in range(size)), io.BytesIO()
        stored = tarball.Stored(file)
        for start in range(0, size, 1000):
            stored.write(content[start : start + 1000])
        stored.finish()
        assert gzip.decompress(file.getvalue()) == content


def test_a_header_has_the_same_bytes_on_every_version_of_python(tmp_path: Path) -> None:
    """Some leave the numbers of devices out, others write zeros."""
    made = gzip.decompress(tarball.write_tarball(tmp_path / "a.tgz", {LONG: b"deep"}).read_bytes())
    header = made[:512].decode()
    assert header[:100].rstrip("\0") == LONG.name
    assert header[100:148] == "0000644\x000000000\x000000000\x0000000000004\x0003560116604\0"
    assert header[154:157] == "\0 0"
    assert header[257:345] == "ustar\x0000" + 64 * "\0" + "0000000\x000000000\0"
    assert header[345:500].rstrip("\0") == str(ROOT / LONG.parent)
    assert int(made[148:154], 8) == sum(made[:512]) - sum(made[148:156]) + 8 * ord(" ")


@pytest.mark.parametrize("name", [PurePosixPath("a" * 101), PurePosixPath("a" * 148, "b"), PurePosixPath("c/" * 130)])
def test_a_path_that_the_format_cannot_hold_is_refused_in_words(name: PurePosixPath, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="the path is too long for a tarball"):
        tarball.write_tarball(tmp_path / "a.tgz", {name: b""})
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_the_format_cannot_hold_is_refused_in_words(tmp_path: Path) -> None:
    with (tmp_path / "huge").open("wb") as huge:
        huge.truncate(8 * 2**30)  # a hole: it takes no room
    with pytest.raises(ModelError, match="the limit of a file in a tarball is 8 GiB"):
        tarball.write_tarball(tmp_path / "a.tgz", {PurePosixPath("huge"): tmp_path / "huge"})


def test_a_full_disk_is_said_and_nothing_is_left_on_it(tmp_path: Path) -> None:
    with tiny_disk(tmp_path):
        with pytest.raises(ToolError, match=r"cannot write .*a\.tgz: No space left on device"):
            tarball.write_tarball(tmp_path / "a.tgz", {PurePosixPath("model.ort"): bytes(200_000)})
        assert list(tmp_path.iterdir()) == []
