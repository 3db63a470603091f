"""Finds the bytes of a new file in an old one: exactly, or with some of them changed."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from packager.distribution.deltas.tensors import TensorBytes

LARGEST_BYTES = 32 << 20
"""Larger contents are not searched: the search takes 16 times their size in memory, and minutes."""


@dataclass(frozen=True)
class Same:
    """Bytes of the new file that are those of the old one, plus differences of values of `width` bytes."""

    old_start: int
    new_start: int
    length: int
    width: int = 1


@dataclass(frozen=True)
class Fresh:
    """Bytes of the new file that the old one does not have."""

    new_start: int
    length: int


Piece = Same | Fresh


def searched(old: bytes, new: bytes) -> list[Piece]:
    """The whole of `new` in pieces, by a suffix array of `old` (bsdiff, Colin Percival 2003)."""
    if not old or not new or max(len(old), len(new)) > LARGEST_BYTES:
        return [Fresh(0, len(new))] if new else []
    import bsdiff4.core

    control, _, _ = bsdiff4.core.diff(old, new)
    numbers = [_offset(control[at : at + 8]) for at in range(0, len(control), 8)]
    pieces: list[Piece] = []
    old_at = new_at = 0
    for same, fresh, skipped in zip(numbers[::3], numbers[1::3], numbers[2::3], strict=True):
        if same:
            pieces.append(Same(old_at, new_at, same))
        if fresh:
            pieces.append(Fresh(new_at + same, fresh))
        old_at += same + skipped
        new_at += same + fresh
    return pieces


def _offset(raw: bytes) -> int:
    """A number of bsdiff: little-endian, with its sign in the highest bit."""
    number = int.from_bytes(raw, "little")
    return -(number & ~(1 << 63)) if number >> 63 else number


def by_tensors(old: bytes, new: bytes, pairs: Sequence[tuple[TensorBytes, TensorBytes]]) -> list[Piece]:
    """`new` in pieces: its tensors from those that they are paired with, and the rest searched in the rest."""
    values = [Same(a.start, b.start, min(a.length, b.length), b.width) for a, b in pairs]
    old_rest = _rest(
        [(each.old_start, each.length) for each in sorted(values, key=lambda each: each.old_start)], len(old)
    )
    new_rest = _rest([(each.new_start, each.length) for each in values], len(new))
    found = searched(_gathered(old, old_rest), _gathered(new, new_rest))
    rest = [piece for each in found for piece in _placed(each, old_rest, new_rest)]
    return sorted([*values, *rest], key=lambda piece: piece.new_start)


def _rest(taken: Sequence[tuple[int, int]], size: int) -> list[tuple[int, int]]:
    """The ranges (start, length) between `taken`, which are in order."""
    found, at = [], 0
    for start, length in [*taken, (size, 0)]:
        if start > at:
            found.append((at, start - at))
        at = max(at, start + length)
    return found


def _gathered(content: bytes, ranges: Sequence[tuple[int, int]]) -> bytes:
    return b"".join(content[start : start + length] for start, length in ranges)


def _placed(piece: Piece, old_rest: Sequence[tuple[int, int]], new_rest: Sequence[tuple[int, int]]) -> Iterator[Piece]:
    """`piece` of gathered ranges as pieces of the files, divided at the borders of ranges."""
    for new_at, length, offset in _divided(piece.new_start, piece.length, new_rest):
        if isinstance(piece, Fresh):
            yield Fresh(new_at, length)
            continue
        for old_at, part, behind in _divided(piece.old_start + offset, length, old_rest):
            yield Same(old_at, new_at + behind, part)


def _divided(start: int, length: int, ranges: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int, int]]:
    """(place in the file, length, offset from `start`) of each part of gathered bytes."""
    at = 0
    for place, size in ranges:
        first, last = max(start, at), min(start + length, at + size)
        if first < last:
            yield place + first - at, last - first, first - start
        at += size
        if at >= start + length:
            return
