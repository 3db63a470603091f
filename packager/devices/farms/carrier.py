"""Results in lines of text: the form in which they leave a farm whose phones nobody can reach.

A line is `mobpack-results SHA256 INDEX/COUNT HEX`: a part of the compressed document, with the sha256 of the document.
A log may put anything before it. The app writes the same lines to its log and to the status of its
instrumentation, beside the file.
"""

import gzip
import re
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256

MARK = "mobpack-results"
BYTES_A_LINE = 1500
"""3,000 characters: Android's log cuts entries at about 4,000 bytes"""
LARGEST = 64 * 2**20
"""bytes of a document; more is no result of mobpack's"""
LINE = re.compile(
    rf"{MARK} (?P<sha256>[0-9a-f]{{64}}) (?P<index>\d{{1,6}})/(?P<count>\d{{1,6}}) (?P<part>(?:[0-9a-f]{{2}})+)"
)


@dataclass
class Parts:
    """What has been seen of one document."""

    count: int
    seen: dict[int, str] = field(default_factory=dict)

    def missing(self) -> int:
        return self.count - len(self.seen)


@dataclass(frozen=True)
class Incomplete:
    """A document of which lines are missing or damaged."""

    sha256: str
    reason: str


def lines_of(document: bytes) -> Iterator[str]:
    """The lines that carry `document`."""
    packed = gzip.compress(document, mtime=0)
    parts = [packed[start : start + BYTES_A_LINE] for start in range(0, len(packed), BYTES_A_LINE)]
    for index, part in enumerate(parts, 1):
        yield f"{MARK} {sha256(document).hexdigest()} {index}/{len(parts)} {part.hex()}"


def documents_in(lines: Iterable[str]) -> tuple[list[bytes], list[Incomplete]]:
    """The documents that `lines` carry, each once, in the order of their first lines; and those that are incomplete.

    Lines may come in any order and more than once: a log holds what a status holds, too.
    """
    found: dict[str, Parts] = {}
    for line in lines:
        if MARK not in line or not (match := LINE.search(line)):
            continue
        parts = found.setdefault(match["sha256"], Parts(int(match["count"])))
        if 1 <= (index := int(match["index"])) <= parts.count:
            parts.seen.setdefault(index, match["part"])
    complete: list[bytes] = []
    incomplete: list[Incomplete] = []
    for name, parts in found.items():
        joined = _joined(name, parts)
        if isinstance(joined, Incomplete):
            incomplete.append(joined)
        else:
            complete.append(joined)
    return complete, incomplete


def _joined(name: str, parts: Parts) -> bytes | Incomplete:
    if parts.missing():
        return Incomplete(name, f"{parts.missing()} of {parts.count} lines are missing")
    packed = bytes.fromhex("".join(parts.seen[index] for index in range(1, parts.count + 1)))
    unpacking = zlib.decompressobj(wbits=31)
    try:
        document = unpacking.decompress(packed, LARGEST)
    except zlib.error as error:
        return Incomplete(name, f"its lines are damaged: {error}")
    if unpacking.unconsumed_tail:
        return Incomplete(name, f"it is larger than {LARGEST:,} bytes")
    if sha256(document).hexdigest() != name:
        return Incomplete(name, "its lines are damaged: the sha256 is another")
    return document
