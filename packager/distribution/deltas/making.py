"""Makes a delta: in several ways, of which the smallest is kept."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from packager.core import user_files
from packager.core.errors import ToolError
from packager.distribution.deltas import matching
from packager.distribution.deltas.deflating import THOROUGH_BYTES, deflated, estimate
from packager.distribution.deltas.layout import (
    ADD,
    ADD_SPARSE,
    CHANGED_VALUES,
    COPY,
    END,
    INSERT,
    SPAN_BYTES,
    Header,
    differences,
    folded,
    planes,
    varint,
)
from packager.distribution.deltas.matching import Fresh, Piece, Same
from packager.distribution.deltas.tensors import paired, tensors_of

if TYPE_CHECKING:
    from packager.distribution.deltas.layout import Values

TENSORS_SHARE = 0.5
"""Share of a file: if more of it is in tensors that both versions have, the whole file is not searched."""


def make(old: Path, new: Path) -> bytes:
    """A delta that makes `new` of `old`. Files in the formats ORT and ONNX are compared tensor by tensor, by name.

    The same files give the same bytes with the same zlib. Takes a few times the size of the files in memory. Raises
    ToolError if a file cannot be read.
    """
    source, result = _content(old), _content(new)
    stated = Header(
        source_size=len(source),
        source_sha256=hashlib.sha256(source).hexdigest(),
        result_size=len(result),
        result_sha256=hashlib.sha256(result).hexdigest(),
    )
    ways = [_Writer(source, result).sections_of(pieces) for pieces in _ways(source, result)]
    if len(result) > THOROUGH_BYTES:
        ways = [min(ways, key=lambda sections: sum(map(estimate, sections)))]
    return stated.encoded() + min(map(deflated, ways), key=len)


def _content(path: Path) -> bytes:
    try:
        with user_files.opened(path) as file:
            return file.read()
    except OSError as error:
        raise ToolError(f"cannot read {path}: {error.strerror}", hint="give a file that you can read") from error


def _ways(old: bytes, new: bytes) -> Iterator[Sequence[Piece]]:
    """Ways to make `new` of `old`, each as pieces of all of `new` in order."""
    if old == new:
        yield [Same(0, 0, len(new))] if new else []
        return
    yield [Fresh(0, len(new))] if new else []
    pairs = paired(tensors_of(old), tensors_of(new))
    if pairs:
        yield matching.by_tensors(old, new, pairs)
    elif len(old) == len(new):
        for width in (1, 2, 4):
            end = len(new) // width * width
            yield [Same(0, 0, end, width), *([Fresh(end, len(new) - end)] if end < len(new) else [])]
    if sum(min(a.length, b.length) for a, b in pairs) < len(new) * TENSORS_SHARE:
        yield matching.searched(old, new)


@dataclass
class _Writer:
    """Writes instructions, in sections of bytes that have something in common."""

    old: bytes
    new: bytes
    cursor: int = 0
    """the byte of the source after those that the last instruction reads"""
    sections: list[bytes] = field(default_factory=list)
    copied: tuple[int, int] | None = None
    """start and length of a copy that may still grow"""

    def sections_of(self, pieces: Sequence[Piece]) -> list[bytes]:
        for piece in pieces:
            if isinstance(piece, Same):
                self._same(piece)
            else:
                self._end_copy()
                self.sections.append(bytes([INSERT]) + varint(piece.length))
                self.sections.append(self.new[piece.new_start : piece.new_start + piece.length])
        self._end_copy()
        return [*self.sections, bytes([END])]

    def _same(self, piece: Same) -> None:
        for offset in range(0, piece.length, SPAN_BYTES):
            length = min(SPAN_BYTES, piece.length - offset)
            self._span(piece.old_start + offset, piece.new_start + offset, length, piece.width)

    def _span(self, old_start: int, new_start: int, length: int, width: int) -> None:
        import numpy

        old, new = self.old[old_start : old_start + length], self.new[new_start : new_start + length]
        if old == new:
            self._copy(old_start, length)
            return
        self._end_copy()
        values = differences(numpy.frombuffer(old, numpy.uint8), numpy.frombuffer(new, numpy.uint8), width)
        place = bytes([width]) + varint(folded(old_start - self.cursor))
        self.sections += _smallest_addition(values, place, width)
        self.cursor = old_start + length

    def _copy(self, start: int, length: int) -> None:
        if self.copied and sum(self.copied) == start:
            self.copied = (self.copied[0], self.copied[1] + length)
            return
        self._end_copy()
        self.copied = (start, length)

    def _end_copy(self) -> None:
        if self.copied:
            start, length = self.copied
            self.sections.append(bytes([COPY]) + varint(folded(start - self.cursor)) + varint(length))
            self.cursor = start + length
            self.copied = None


def _smallest_addition(values: "Values", place: bytes, width: int) -> list[bytes]:
    """The sections of ADD or ADD_SPARSE, whichever is smaller. `place` is the width and the distance."""
    import numpy

    changed = numpy.flatnonzero(values)
    dense = [bytes([ADD]) + place + varint(len(values)), *planes(values, width)]
    if len(changed) > min(CHANGED_VALUES, len(values) * 3 // 4):
        return dense
    gaps = numpy.diff(changed, prepend=-1) - 1
    gap_width = max(1, (int(gaps.max()).bit_length() + 7) // 8)
    start = bytes([ADD_SPARSE]) + place + varint(len(values)) + varint(len(changed)) + bytes([gap_width])
    sparse = [start, *planes(gaps.astype("<u4"), gap_width), *planes(values[changed], width)]
    if len(changed) * 32 < len(values):
        return sparse
    return min(dense, sparse, key=lambda sections: sum(map(estimate, sections)))
