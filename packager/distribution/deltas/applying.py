"""Applies a delta: streaming, in bounded memory, and only a result with the right sha256 counts."""

import hashlib
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import BufferedReader
from pathlib import Path
from typing import IO, TYPE_CHECKING

from packager.core.errors import ToolError
from packager.distribution.deltas.layout import (
    ADD,
    ADD_SPARSE,
    CHANGED_VALUES,
    COPY,
    END,
    GAP_WIDTHS,
    INSERT,
    SPAN_BYTES,
    WIDTHS,
    Header,
    added,
    damaged,
    from_planes,
    header,
    read_varint,
    unfolded,
)
from packager.files.atomic import atomic_file

if TYPE_CHECKING:
    from packager.distribution.deltas.layout import Bytes

CHUNK_BYTES = 1 << 16
LIMIT_BYTES = 8 << 30
"""Maximum size of a result, unless the caller gives another one."""


def apply(old: Path, delta: IO[bytes], out: Path, *, limit_bytes: int = LIMIT_BYTES) -> None:
    """Writes to `out` the file that `delta` makes of `old`; `delta` is read once, from its position to its end.

    Takes up to 16 MiB of memory for files of any size. Raises ToolError, and leaves `out` as it was, if `old` is not
    the file that the delta was made from, if the result has more than `limit_bytes`, if any number of the delta is
    impossible, and if the result has another sha256.
    """
    stated = header(delta)
    if stated.result_size > limit_bytes:
        raise ToolError(
            f"the delta makes a file of {stated.result_size:,} bytes: more than the limit of {limit_bytes:,}",
            hint="download the whole file, or allow more",
        )
    with atomic_file(out) as result, _opened(old, stated) as source:
        patcher = _Patcher(source, result, _Inflated(delta), stated)
        patcher.run()
        if patcher.sha256.hexdigest() != stated.result_sha256:
            raise damaged("its result has another sha256 than it says")


@contextmanager
def _opened(old: Path, stated: Header) -> Iterator[BufferedReader]:
    """The source, with the size and the sha256 that the delta states."""
    hint = f"give the file with sha256 {stated.source_sha256}, or download the whole new file"
    try:
        source = old.open("rb")
    except OSError as error:
        raise ToolError(f"cannot read {old}: {error.strerror}", hint=hint) from error
    with source:
        size = os.fstat(source.fileno()).st_size
        if size != stated.source_size:
            raise ToolError(f"{old}: not the delta's source: {size:,} bytes, not {stated.source_size:,}", hint=hint)
        if hashlib.file_digest(source, "sha256").hexdigest() != stated.source_sha256:
            raise ToolError(f"{old}: not the delta's source: its sha256 differs", hint=hint)
        yield source


@dataclass
class _Inflated:
    """Reads the instructions: the deflate stream behind a delta's header."""

    delta: IO[bytes]
    inflater: "zlib._Decompress" = field(default_factory=lambda: zlib.decompressobj(-zlib.MAX_WBITS))
    ready: bytes = b""
    position: int = 0

    def read(self, count: int) -> bytes:
        """Exactly `count` bytes. Raises ToolError if the stream ends before, or is not deflate."""
        end = self.position + count
        if end <= len(self.ready):
            found = self.ready[self.position : end]
            self.position = end
            return found
        parts = [self.ready[self.position :]]
        missing = count - len(parts[0])
        while missing > 0:
            self.ready = self._more()
            parts.append(self.ready[:missing])
            self.position = len(parts[-1])
            missing -= self.position
        return b"".join(parts)

    def _more(self) -> bytes:
        """The next bytes, up to CHUNK_BYTES."""
        while not self.inflater.eof:
            waiting = self.inflater.unconsumed_tail or self.delta.read(CHUNK_BYTES)
            try:
                found = self.inflater.decompress(waiting, CHUNK_BYTES)
            except zlib.error as error:
                raise damaged("what follows its header is not deflate") from error
            if found:
                return found
            if not waiting:
                raise damaged("it ends too early")
        raise damaged("its instructions end too early")

    def require_end(self) -> None:
        """Raises ToolError if anything follows the last instruction."""
        if self.position < len(self.ready):
            raise damaged("bytes follow its last instruction")
        while not self.inflater.eof:
            waiting = self.inflater.unconsumed_tail or self.delta.read(CHUNK_BYTES)
            try:
                found = self.inflater.decompress(waiting, 1)
            except zlib.error as error:
                raise damaged("what follows its header is not deflate") from error
            if found or not waiting:
                raise damaged("bytes follow its last instruction" if found else "it ends too early")
        if self.inflater.unused_data or self.delta.read(1):
            raise damaged("bytes follow its end")


@dataclass
class _Patcher:
    """Runs instructions, one after the other."""

    source: IO[bytes]
    result: IO[bytes]
    instructions: _Inflated
    stated: Header
    cursor: int = 0
    """the byte of the source after those that the last instruction has read"""
    written: int = 0
    sha256: "hashlib._Hash" = field(default_factory=hashlib.sha256)

    def run(self) -> None:
        while (instruction := self.instructions.read(1)[0]) != END:
            if instruction == COPY:
                self._write(self._taken(*self._range()))
            elif instruction == INSERT:
                self._write(self._inserted(self._length()))
            elif instruction in (ADD, ADD_SPARSE):
                self._add(is_sparse=instruction == ADD_SPARSE)
            else:
                raise damaged(f"it has an unknown instruction {instruction}")
        self.instructions.require_end()
        if self.written != self.stated.result_size:
            raise damaged(f"its result has {self.written:,} bytes, not {self.stated.result_size:,}")

    def _number(self) -> int:
        return read_varint(self.instructions.read)

    def _length(self, unit: int = 1) -> int:
        """A number of units of `unit` bytes that the result still has place for."""
        length = self._number()
        if not 0 < length * unit <= self.stated.result_size - self.written:
            raise damaged(f"an instruction writes {length * unit:,} bytes where the result has no place for them")
        return length

    def _start(self) -> int:
        start = self.cursor + unfolded(self._number())
        if not 0 <= start <= self.stated.source_size:
            raise damaged(f"an instruction reads at byte {start:,} of {self.stated.source_size:,}")
        return start

    def _range(self, unit: int = 1) -> tuple[int, int]:
        """Start and length, in units, of what an instruction reads of the source."""
        start = self._start()
        length = self._length(unit)
        if start + length * unit > self.stated.source_size:
            raise damaged(f"an instruction reads to byte {start + length * unit:,} of {self.stated.source_size:,}")
        return start, length

    def _taken(self, start: int, length: int) -> Iterator[bytes]:
        """Bytes of the source, in chunks."""
        self.source.seek(start)
        self.cursor = start + length
        while length:
            chunk = self.source.read(min(length, CHUNK_BYTES))
            if not chunk:
                raise ToolError("the delta's source became shorter while it was read", hint="run it again")
            length -= len(chunk)
            yield chunk

    def _inserted(self, length: int) -> Iterator[bytes]:
        for start in range(0, length, CHUNK_BYTES):
            yield self.instructions.read(min(CHUNK_BYTES, length - start))

    def _add(self, *, is_sparse: bool) -> None:
        import numpy

        width = self.instructions.read(1)[0]
        if width not in WIDTHS:
            raise damaged(f"it adds to values of {width} bytes")
        start, count = self._range(width)
        if count * width > SPAN_BYTES:
            raise damaged(f"an instruction adds to {count * width:,} bytes, more than {SPAN_BYTES:,}")
        old = numpy.frombuffer(b"".join(self._taken(start, count * width)), numpy.uint8)
        if is_sparse:
            self._write(iter([self._sparsely_added(old, count, width)]))
        else:
            values = from_planes(self.instructions.read(count * width), count, width, width)
            self._write(iter([added(old, values, width)]))

    def _sparsely_added(self, old: "Bytes", count: int, width: int) -> bytes:
        import numpy

        changed = self._number()
        gap_width = self.instructions.read(1)[0]
        if not 0 < changed <= min(count, CHANGED_VALUES) or gap_width not in GAP_WIDTHS:
            raise damaged(f"it changes {changed:,} of {count:,} values, with gaps of {gap_width} bytes")
        gaps = from_planes(self.instructions.read(gap_width * changed), changed, gap_width, 4)
        places = numpy.cumsum(gaps, dtype=numpy.int64) + numpy.arange(changed)
        if places[-1] >= count:
            raise damaged(f"it changes value {int(places[-1]):,} of {count:,}")
        values = from_planes(self.instructions.read(width * changed), changed, width, width)
        result = old.view(f"<u{width}").copy()
        result[places] = numpy.frombuffer(added(result[places].view(numpy.uint8), values, width), result.dtype)
        return result.tobytes()

    def _write(self, chunks: Iterator[bytes]) -> None:
        for chunk in chunks:
            self.result.write(chunk)
            self.sha256.update(chunk)
            self.written += len(chunk)
