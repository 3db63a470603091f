"""SentencePiece's `precompiled_charsmap` of a few texts: a trie of darts-clone, and the texts in their place."""

import struct
from collections.abc import Mapping

LEAF = 1 << 8
VALUE = 1 << 31
BLOCK = 256


def charsmap(texts: Mapping[str, str]) -> bytes:
    """The table that replaces each key by its value. Every node has a block of 256 units of its own."""
    units = {0: 0}
    contents = b""
    blocks: dict[bytes, int] = {}
    places = {b"": 0}
    for before, after in texts.items():
        key = before.encode()
        for size in range(len(key) + 1):
            prefix = key[:size]
            if prefix not in blocks:
                blocks[prefix] = BLOCK * (len(blocks) + 1)
                units[places[prefix]] = units.get(places[prefix], 0) | (places[prefix] ^ blocks[prefix]) << 10
            if size < len(key):
                places[key[: size + 1]] = blocks[prefix] ^ key[size]
                units.setdefault(blocks[prefix] ^ key[size], key[size])
        units[places[key]] |= LEAF
        units[blocks[key]] = VALUE | len(contents)
        contents += after.encode() + b"\0"
    array = [units.get(place, 0xFF) for place in range(BLOCK * (len(blocks) + 2))]
    return struct.pack(f"<I{len(array)}I", 4 * len(array), *array) + contents
