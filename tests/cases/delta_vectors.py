"""Vectors for patchers in every language: `python -m tests.cases.delta_vectors` writes tests/data/deltas/vectors.json.

Each has a source, a delta, and a result; or, in place of the result, the reason why the delta is refused. All bytes are
in base64.
"""

import base64
import hashlib
import json
import zlib
from collections.abc import Iterator
from pathlib import Path

from packager.distribution.deltas.layout import ADD, ADD_SPARSE, COPY, END, INSERT, Header, folded, varint

PATH = Path(__file__).parents[1] / "data" / "deltas" / "vectors.json"
SOURCE = b"".join(hashlib.sha256(bytes([index])).digest() for index in range(16))
"""512 bytes."""


def packed(body: bytes, source: bytes, result: bytes) -> bytes:
    """A delta with the instructions `body`."""
    compressor = zlib.compressobj(9, zlib.DEFLATED, -15)
    return stated(source, result).encoded() + compressor.compress(body) + compressor.flush()


def stated(source: bytes, result: bytes) -> Header:
    return Header(
        source_size=len(source),
        source_sha256=hashlib.sha256(source).hexdigest(),
        result_size=len(result),
        result_sha256=hashlib.sha256(result).hexdigest(),
    )


def copy(distance: int, length: int) -> bytes:
    return bytes([COPY]) + varint(folded(distance)) + varint(length)


def insert(content: bytes) -> bytes:
    return bytes([INSERT]) + varint(len(content)) + content


def add(width: int, distance: int, count: int, planes: bytes) -> bytes:
    return bytes([ADD, width]) + varint(folded(distance)) + varint(count) + planes


def sparse(width: int, distance: int, count: int, gaps: bytes, planes: bytes, *, gap_width: int = 1) -> bytes:
    changed = len(gaps) // gap_width
    start = bytes([ADD_SPARSE, width]) + varint(folded(distance)) + varint(count)
    return start + varint(changed) + bytes([gap_width]) + gaps + planes


def added(content: bytes, width: int, numbers: dict[int, int]) -> bytes:
    """`content` with `numbers` added to its values of `width` bytes at the given places: one value after the other."""
    values = [int.from_bytes(content[at : at + width], "little") for at in range(0, len(content), width)]
    for place, number in numbers.items():
        values[place] = (values[place] + number) % (1 << 8 * width)
    return b"".join(value.to_bytes(width, "little") for value in values)


END_BYTE = bytes([END])


def good() -> Iterator[tuple[str, bytes, bytes]]:
    """(name, instructions, result)"""
    yield "an empty result", END_BYTE, b""
    yield "all of it copied", copy(0, 512) + END_BYTE, SOURCE
    yield "inserted only", insert(b"mobpack") + END_BYTE, b"mobpack"
    body = copy(100, 50) + insert(b"new") + copy(-150, 10) + copy(490, 12) + END_BYTE
    yield "copies forwards and back", body, SOURCE[100:150] + b"new" + SOURCE[:10] + SOURCE[500:]
    yield (
        "bytes, each changed",
        add(1, 2, 4, bytes([0, 1, 2, 255])) + END_BYTE,
        added(SOURCE[2:6], 1, {1: -1, 2: 1, 3: -128}),
    )
    for width, largest in ((2, 1 << 15), (4, 1 << 31), (8, 1 << 63)):
        numbers = {0: 1, 1: -1, 2: largest - 1, 3: -largest}
        zigzag = [folded(number) for number in numbers.values()]
        planes = b"".join(bytes(value >> 8 * plane & 255 for value in zigzag) for plane in range(width))
        result = added(SOURCE[3 : 3 + 4 * width], width, numbers)
        yield f"values of {width} bytes, at an odd place", add(width, 3, 4, planes) + END_BYTE, result
    body = sparse(1, 0, 512, bytes([0, 255, 10]), bytes([2, 1, 4])) + END_BYTE
    yield "three bytes changed", body, added(SOURCE, 1, {0: 1, 256: -1, 267: 2})
    body = sparse(4, 8, 126, bytes([5, 44, 0, 0, 0, 0]), bytes([2, 0, 0, 1, 0, 0, 0, 0]), gap_width=3) + END_BYTE
    yield "two values of 4 bytes changed, gaps of 3 bytes", body, added(SOURCE[8:], 4, {5: 1, 50: 128})


def refused() -> Iterator[tuple[str, bytes]]:
    """(reason, delta): each has a result of 8 bytes."""
    result = SOURCE[:8]

    def delta(body: bytes) -> bytes:
        return packed(body, SOURCE, result)

    whole = delta(copy(0, 8) + END_BYTE)
    yield "another format", whole[:7] + bytes([2]) + whole[8:]
    yield "no magic", b"X" + whole[1:]
    yield "cut in its header", whole[:70]
    yield "cut in its instructions", whole[:-2]
    yield "bytes behind it", whole + b"\0"
    yield "bytes behind the last instruction", delta(copy(0, 8) + END_BYTE + b"\0")
    yield "no last instruction", delta(copy(0, 8))
    yield "an unknown instruction", delta(bytes([9]) + END_BYTE)
    yield "a copy from before the source", delta(copy(-1, 8) + END_BYTE)
    yield "a copy from behind the source", delta(copy(505, 8) + END_BYTE)
    yield "a copy of nothing", delta(copy(0, 0) + copy(0, 8) + END_BYTE)
    yield "a copy beyond the result", delta(copy(0, 9) + END_BYTE)
    yield "a copy of nearly 2^63 bytes", delta(copy(8, (1 << 63) - 1) + END_BYTE)
    yield "a distance of 64 bits", delta(bytes([COPY]) + b"\xff" * 9 + b"\x01" + varint(8) + END_BYTE)
    yield "a result that is too short", delta(copy(0, 7) + END_BYTE)
    yield "other bytes of the same length", delta(copy(1, 8) + END_BYTE)
    yield "values of 3 bytes", delta(add(3, 0, 2, bytes(6)) + END_BYTE)
    yield "more values than the result has", delta(add(4, 0, 3, bytes(12)) + END_BYTE)
    yield "planes that end too early", delta(add(8, 0, 1, bytes(7)))
    yield "gaps of 4 bytes", delta(sparse(1, 0, 8, bytes(4), bytes(1), gap_width=4) + END_BYTE)
    yield "nothing changed of a sparse span", delta(sparse(1, 0, 8, b"", b"") + END_BYTE)
    yield "more changed than there is", delta(sparse(1, 0, 8, bytes(9), bytes(9)) + END_BYTE)
    yield "a gap beyond the span", delta(sparse(1, 0, 8, bytes([3, 4]), bytes([2, 2])) + END_BYTE)
    yield "not deflate", stated(SOURCE, result).encoded() + b"\xff" * 8
    yield "another source", packed(copy(0, 8) + END_BYTE, SOURCE[::-1], result)
    yield "a source of another size", packed(copy(0, 8) + END_BYTE, SOURCE[1:], result)


def text(content: bytes) -> str:
    return base64.b64encode(content).decode()


def document() -> dict[str, object]:
    return {
        "source": text(SOURCE),
        "applied": [
            {"name": name, "delta": text(packed(body, SOURCE, result)), "result": text(result)}
            for name, body, result in good()
        ],
        "refused": [{"reason": reason, "delta": text(delta)} for reason, delta in refused()],
    }


if __name__ == "__main__":
    PATH.write_text(json.dumps(document(), indent=1) + "\n", encoding="utf-8", newline="\n")
