"""Takes wanted files out of a large Debian package, and decompresses little else.

Such a package is compressed in blocks that need nothing of each other, with a list of them at the end. Where the wanted
files lie among all is known for a locked package: its lock goes with a file of the parts to read.
"""

import lzma
import re
import tarfile
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from io import BufferedReader, RawIOBase
from itertools import accumulate
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from packager.core.errors import ToolError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

STREAM_HEADER_BYTES = FOOTER_BYTES = 12
AR_BEGIN, AR_ENTRY_BYTES = 8, 60
APART = 1 << 24
"""bytes between two wanted files that are worth two parts: less is in the blocks of both"""


@dataclass(frozen=True)
class Block:
    """Bytes that are compressed together."""

    begin: int
    """in the .deb"""
    size: int
    content: int
    """begin of what they hold, in the archive of all files"""
    content_size: int


@dataclass(frozen=True)
class Part:
    """Consecutive entries of the archive of all files."""

    begin: int
    end: int


def write_parts(deb: Path, left_out: re.Pattern[str], file: Path) -> None:
    """Writes where the files of a package are whose path begins with no match of `left_out`."""
    parts: list[Part] = []
    with deb.open("rb") as opened, tarfile.open(fileobj=BufferedReader(_Content(opened)), mode="r|") as archive:
        for member in archive:
            if member.isdir() or left_out.match(_path_of(member)):
                continue
            end = member.offset_data + -(-member.size // tarfile.BLOCKSIZE) * tarfile.BLOCKSIZE
            if parts and member.offset - parts[-1].end < APART:
                parts[-1] = Part(parts[-1].begin, end)
            else:
                parts.append(Part(member.offset, end))
    lines = [_state(deb.name.split("_")[1], left_out), *(f"{part.begin} {part.end}" for part in parts)]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")


def unpack_parts(deb: Path, root: Path, left_out: re.Pattern[str], file: Path, *, refresh: str) -> None:
    """Writes the files to `root` that `write_parts` has found. Raises ToolError where these were others."""
    state, *lines = file.read_text(encoding="utf-8").splitlines()
    if state != _state(deb.name.split("_")[1], left_out):
        raise ToolError(f"{file.name} is of another package, or of other files", hint=f"run: {refresh}")
    with deb.open("rb") as opened:
        content = _Content(opened)
        for line in lines:
            content.keep_to(Part(*map(int, line.split())))
            _extract(content, root, left_out)


def _extract(content: "_Content", root: Path, left_out: re.Pattern[str]) -> None:
    with tarfile.open(fileobj=BufferedReader(content), mode="r|") as archive:
        archive.extraction_filter = getattr(tarfile, "tar_filter", None)  # as in unpack_deb
        for member in archive:
            if not member.isdir() and not left_out.match(_path_of(member)):
                archive.extract(member, root)


def _path_of(member: tarfile.TarInfo) -> str:
    return str(PurePosixPath(member.name))


def _state(version: str, left_out: re.Pattern[str]) -> str:
    """The version and files that parts belong to: they are read of no other package."""
    return f"{version} {sha256(left_out.pattern.encode()).hexdigest()[:16]}"


class _Content(RawIOBase):
    """The archive of all files of a package, or a part of it. Only the blocks that are read are decompressed."""

    def __init__(self, deb: BufferedReader) -> None:
        self.file = deb
        begin, size = _data_of(deb)
        self.header = _read(deb, begin, STREAM_HEADER_BYTES)
        self.blocks = _blocks(deb, begin, size)
        self.held: tuple[Block, bytes] | None = None
        self.keep_to(Part(0, self.blocks[-1].content + self.blocks[-1].content_size))

    def keep_to(self, part: Part) -> None:
        self.at, self.end = part.begin, part.end

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        """A reader of one part closes what others read on."""

    def readinto(self, buffer: "WriteableBuffer") -> int:
        if self.at == self.end:
            return 0
        block, content = self._block()
        begin = self.at - block.content
        taken = memoryview(buffer).cast("B")
        piece = memoryview(content)[begin : min(begin + len(taken), self.end - block.content)]
        taken[: len(piece)] = piece
        self.at += len(piece)
        return len(piece)

    def _block(self) -> tuple[Block, bytes]:
        """The block with the next byte, decompressed as if it were all of a stream."""
        if self.held and self.held[0].content <= self.at < self.held[0].content + self.held[0].content_size:
            return self.held
        block = next(each for each in self.blocks if each.content <= self.at < each.content + each.content_size)
        decompressor = lzma.LZMADecompressor(lzma.FORMAT_XZ)
        content = decompressor.decompress(self.header + _read(self.file, block.begin, block.size))
        assert len(content) == block.content_size
        self.held = block, content
        return self.held


def _read(file: BufferedReader, begin: int, size: int) -> bytes:
    file.seek(begin)
    return file.read(size)


def _data_of(deb: BufferedReader) -> tuple[int, int]:
    """Begin and size of the compressed archive in a .deb, which is an archive of `ar`."""
    at = AR_BEGIN
    while True:
        entry = _read(deb, at, AR_ENTRY_BYTES)
        begin, size = at + AR_ENTRY_BYTES, int(entry[48:58])
        if entry.startswith(b"data.tar.xz"):
            return begin, size
        at = begin + size + size % 2


def _blocks(file: BufferedReader, begin: int, size: int) -> list[Block]:
    """The blocks of an .xz file: https://tukaani.org/xz/xz-file-format.txt, 2.1.2 and 4."""
    footer = _read(file, begin + size - FOOTER_BYTES, FOOTER_BYTES)
    index_bytes = 4 * (int.from_bytes(footer[4:8], "little") + 1)
    numbers = _numbers(_read(file, begin + size - FOOTER_BYTES - index_bytes, index_bytes)[1:])
    count, *found = numbers
    sizes = [4 * -(-each // 4) for each in found[: 2 * count : 2]]
    contents = found[1 : 2 * count : 2]
    begins = accumulate(sizes, initial=begin + STREAM_HEADER_BYTES)
    places = accumulate(contents, initial=0)
    return [Block(*each) for each in zip(begins, sizes, places, contents, strict=False)]


def _numbers(content: bytes) -> Sequence[int]:
    """Numbers of seven bits in a byte, the lowest first; the eighth is set where more of them follow."""
    numbers, number, shift = [], 0, 0
    for byte in content:
        number |= (byte & 0x7F) << shift
        shift += 7
        if not byte & 0x80:
            numbers.append(number)
            number, shift = 0, 0
    return numbers
