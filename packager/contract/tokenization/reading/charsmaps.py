"""Reads the tables with which SentencePiece normalizes: a trie of darts-clone, and the texts that it leads to."""

import base64
import binascii
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from packager.contract.tokenization.reading.part import Part
from packager.core.errors import ConfigError

if TYPE_CHECKING:
    import numpy

LEAF, WIDE, VALUE = 1 << 8, 1 << 9, 0x7FFFFFFF
"""bits of a unit: DoubleArrayUnit of darts-clone"""
LABEL = 0x800000FF
BYTES_END = 0xF5
"""of UTF-8: no text has this byte or a higher one"""
DEEPEST = 256
"""bytes of a key; deeper ones mean a circle"""
MOST = 2**22
"""prefixes of keys; units are shared by keys with the same end, so that there are more of them than units"""


def from_base64(part: Part) -> Mapping[str, str]:
    """The table of a part of `tokenizer.json`. Raises ConfigError."""
    content = part.get("precompiled_charsmap", str)
    try:
        return read(base64.b64decode(content, validate=True), part.place)
    except binascii.Error as error:
        raise ConfigError(f"{part.place}: not base64: {error}", hint="download or save the tokenizer again") from error


def read(content: bytes, place: str) -> Mapping[str, str]:
    """Texts and what replaces them. Raises ConfigError for a damaged table; its message begins with `place`."""
    try:
        return _texts(content)
    except _DamagedError as error:
        raise ConfigError(
            f"{place}: the table of the normalizer is damaged", hint="download or save the tokenizer again"
        ) from error


class _DamagedError(Exception):
    """The table is not one."""


@lru_cache(maxsize=2)
def _texts(content: bytes) -> Mapping[str, str]:
    """The same few tables are in the tokenizers of most models."""
    import numpy

    size = int.from_bytes(content[:4], "little")
    if len(content) < 4 or size % 4 or size + 4 > len(content):
        raise _DamagedError
    units = numpy.frombuffer(content[4 : 4 + size], "<u4")
    texts = content[4 + size :]
    made: dict[str, str] = {}
    for key, start in sorted(_keys(units)):
        end = texts.find(b"\0", start)
        if end < 0:
            raise _DamagedError
        try:
            made[key.decode()] = texts[start:end].decode()
        except UnicodeDecodeError as error:
            raise _DamagedError from error
    return made


def _keys(units: "numpy.ndarray") -> Iterator[tuple[bytes, int]]:
    """Keys, and where their texts begin."""
    if not len(units):
        return
    following = _following(units)
    waiting = [(b"", 0)]
    seen = 0
    while waiting:
        key, node = waiting.pop()
        seen += 1
        unit = int(units[node])
        base = node ^ (unit >> 10 << (8 if unit & WIDE else 0))
        if seen > MOST or len(key) > DEEPEST:
            raise _DamagedError
        if unit & LEAF:
            if base >= len(units):
                raise _DamagedError
            yield key, int(units[base]) & VALUE
        waiting += [(key + label, each) for label, each in following.get(base, ())]


def _following(units: "numpy.ndarray") -> Mapping[int, Sequence[tuple[bytes, int]]]:
    """The bytes that lead on from each base, and the units that they lead to."""
    import numpy

    labels = units.astype(numpy.int64) & LABEL
    places = numpy.nonzero((labels > 0) & (labels < BYTES_END))[0]
    labels = labels[places]
    found: dict[int, list[tuple[bytes, int]]] = {}
    for base, label, place in zip((places ^ labels).tolist(), labels.tolist(), places.tolist(), strict=True):
        found.setdefault(base, []).append((bytes([label]), place))
    return found
