"""Single files of a large Debian package, and no block of it that holds none of them."""

import io
import lzma
import re
import tarfile
from pathlib import Path
from zlib import crc32

import pytest

from packager.core.errors import ToolError
from tests.toolchain.deb_parts import unpack_parts, write_parts

BLOCK = 1 << 20
LARGE = 20 * BLOCK
LEFT_OUT = re.compile("usr/lib/large|usr/share/")
REFRESH = "lock them anew"
LONG = f"usr/lib/{'long/' * 30}name"
FILES = {
    "usr/bin/first": b"first" * 1000,
    "usr/lib/large": bytes(LARGE),
    "usr/lib/last": b"last",
    LONG: b"long",
    "usr/share/text": b"text",
}


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A package with files, and a link to one of them."""
    file = tmp_path_factory.mktemp("package") / "large_1.2_amd64.deb"
    content = archive()
    blocks = [lzma.compress(content[at : at + BLOCK], preset=0) for at in range(0, len(content), BLOCK)]
    members = {"debian-binary": b"2.0\n", "control.tar.xz": b"odd", "data.tar.xz": joined(blocks)}
    with file.open("wb") as deb:
        deb.write(b"!<arch>\n")
        for name, each in members.items():
            deb.write(f"{name:<16}{0:<12}{0:<6}{0:<6}{100644:<8}{len(each):<10}`\n".encode() + each)
            deb.write(b"\n" * (len(each) % 2))
    return file


def archive() -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for name, content in FILES.items():
            entry = tarfile.TarInfo(f"./{name}")
            entry.size = len(content)
            entry.mode = 0o755
            tar.addfile(entry, io.BytesIO(content))
        link = tarfile.TarInfo("./usr/bin/link")
        link.type, link.linkname = tarfile.SYMTYPE, "first"
        tar.addfile(link)
    return made.getvalue()


def joined(streams: list[bytes]) -> bytes:
    """One stream with the blocks of others, as several threads of xz make it."""
    blocks, records = b"", b""
    for stream in streams:
        index = stream[-12 - 4 * (int.from_bytes(stream[-8:-4], "little") + 1) : -12]
        blocks += stream[12 : -len(index) - 12]
        records += without_padding(index[2:-4])
    index = b"\0" + bytes([len(streams)]) + records
    index += bytes(-len(index) % 4)
    index += crc32(index).to_bytes(4, "little")
    footer = (len(index) // 4 - 1).to_bytes(4, "little") + streams[0][6:8]
    return streams[0][:12] + blocks + index + crc32(footer).to_bytes(4, "little") + footer + b"YZ"


def without_padding(record: bytes) -> bytes:
    """The two numbers of a block: each ends with the first byte below 128."""
    ends = [at + 1 for at, byte in enumerate(record) if byte < 0x80]
    return record[: ends[1]]


def files_in(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and not path.is_symlink()
    }


def test_the_blocks_are_those_of_an_archive(package: Path) -> None:
    content = package.read_bytes()
    begin = content.index(b"\xfd7zXZ")
    size = int(content[begin - 12 : begin - 2])
    assert lzma.decompress(content[begin : begin + size]) == archive()


def test_what_is_wanted_is_unpacked_and_the_rest_is_not_even_read(package: Path, tmp_path: Path) -> None:
    parts, damaged = tmp_path / "parts.txt", tmp_path / package.name
    write_parts(package, LEFT_OUT, parts)
    content = bytearray(package.read_bytes())
    middle = len(content) // 2
    content[middle : middle + 100] = bytes(100)
    damaged.write_bytes(content)
    with pytest.raises(lzma.LZMAError):
        write_parts(damaged, LEFT_OUT, tmp_path / "all.txt")

    unpack_parts(damaged, tmp_path / "root", LEFT_OUT, parts, refresh=REFRESH)

    assert files_in(tmp_path / "root") == {name: FILES[name] for name in ("usr/bin/first", "usr/lib/last", LONG)}
    assert (tmp_path / "root/usr/bin/link").readlink() == Path("first")
    assert (tmp_path / "root/usr/bin/first").stat().st_mode & 0o777 == 0o755


@pytest.mark.parametrize(
    ("name", "left_out"),
    [("large_1.3_amd64.deb", LEFT_OUT), ("large_1.2_amd64.deb", re.compile("usr/share/"))],
    ids=["another version", "other files"],
)
def test_parts_of_something_else_are_refused(
    package: Path, name: str, left_out: re.Pattern[str], tmp_path: Path
) -> None:
    parts, deb = tmp_path / "parts.txt", tmp_path / name
    write_parts(package, LEFT_OUT, parts)
    deb.symlink_to(package)
    with pytest.raises(ToolError, match=r"parts\.txt is of another package") as caught:
        unpack_parts(deb, tmp_path / "root", left_out, parts, refresh=REFRESH)
    assert REFRESH in caught.value.hint
    assert not (tmp_path / "root").exists()
