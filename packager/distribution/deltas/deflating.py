"""One raw deflate stream of sections that have little in common, each compressed in the way that suits it.

A stream may be put together from parts: each part begins with an empty window and ends at a border of bytes, by an
empty stored block (RFC 1951, 3.2.4). A patcher notices nothing.
"""

import zlib
from collections.abc import Sequence

LEVEL, QUICK_LEVEL = 9, 6
MEMORY = 9
"""zlib's memLevel: blocks of up to 32,768 symbols."""
STRATEGIES = (zlib.Z_DEFAULT_STRATEGY, zlib.Z_FILTERED, zlib.Z_RLE, zlib.Z_HUFFMAN_ONLY)
PART_BYTES = 1 << 10
"""Smaller sections are compressed with their neighbours: a part of their own costs more than it saves."""
THOROUGH_BYTES = 1 << 20
"""Up to this size every way is tried in full; the ways for larger ones are chosen by samples."""
SAMPLES, SAMPLE_BYTES = 4, 1 << 16


def deflated(sections: Sequence[bytes]) -> bytes:
    """A raw deflate stream of `sections`: of one part, or of a part for each large section."""
    parts = _joined(sections)
    divided = [_smallest(part, zlib.Z_SYNC_FLUSH) for part in parts[:-1]]
    result = b"".join([*divided, _smallest(parts[-1], zlib.Z_FINISH)])
    whole = b"".join(sections)
    if len(parts) > 1 and len(whole) <= THOROUGH_BYTES:
        return min(_smallest(whole, zlib.Z_FINISH), result, key=len)
    return result


def estimate(section: bytes) -> float:
    """About the bytes that a section takes."""
    sample = _sample(section)
    quick = min(len(_deflate(sample, strategy, zlib.Z_FINISH, level=QUICK_LEVEL)) for strategy in STRATEGIES)
    return quick * len(section) / max(1, len(sample))


def _joined(sections: Sequence[bytes]) -> list[bytes]:
    """`sections`, those below PART_BYTES with their neighbours."""
    parts: list[bytes] = []
    small: list[bytes] = []
    for section in sections:
        if len(section) < PART_BYTES:
            small.append(section)
            continue
        if small:
            parts.append(b"".join(small))
            small = []
        parts.append(section)
    return [*parts, b"".join(small)] if small else parts


def _smallest(content: bytes, ending: int) -> bytes:
    """`content`, compressed by the strategy that is best for it, or for samples of it."""
    if len(content) <= THOROUGH_BYTES // 4:
        return min((_deflate(content, strategy, ending) for strategy in STRATEGIES), key=len)
    sample = _sample(content)
    best = min(STRATEGIES, key=lambda strategy: len(_deflate(sample, strategy, ending, level=QUICK_LEVEL)))
    return _deflate(content, best, ending)


def _sample(content: bytes) -> bytes:
    if len(content) <= SAMPLES * SAMPLE_BYTES:
        return content
    step = (len(content) - SAMPLE_BYTES) // (SAMPLES - 1)
    return b"".join(content[index * step : index * step + SAMPLE_BYTES] for index in range(SAMPLES))


def _deflate(content: bytes, strategy: int, ending: int, *, level: int = LEVEL) -> bytes:
    compressor = zlib.compressobj(level, zlib.DEFLATED, -zlib.MAX_WBITS, MEMORY, strategy)
    return compressor.compress(content) + compressor.flush(ending)
