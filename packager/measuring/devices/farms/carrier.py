"""Results in lines of text: the form in which they leave a farm whose phones nobody can reach.

A line is `mobpack-results CRC32 INDEX/COUNT HEX`: a part of the document, with the CRC-32 of the whole (zlib's). A log
may put anything before it. The app writes the same lines to its log and to the status of its instrumentation,
beside the file; the tests for Xcode print and attach them.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from zlib import crc32

MARK = "mobpack-results"
BYTES_A_LINE = 1500
"""3,000 characters: Android's log cuts entries at about 4,000 bytes"""
LARGEST = 64 * 2**20
"""bytes of a document; more is no result of mobpack's"""
LINE = re.compile(
    rf"{MARK} (?P<crc>[0-9a-f]{{8}}) (?P<index>\d{{1,6}})/(?P<count>\d{{1,6}}) (?P<part>(?:[0-9a-f]{{2}})+)"
)


@dataclass
class CarriedParts:
    """Lines that were seen of one document."""

    count: int
    seen: dict[int, str] = field(default_factory=dict)

    def missing(self) -> int:
        return self.count - len(self.seen)


@dataclass(frozen=True)
class Incomplete:
    """A document of which lines are missing or damaged."""

    crc: str
    reason: str


def lines_of(document: bytes) -> Iterator[str]:
    """The lines that carry `document`."""
    parts = [document[start : start + BYTES_A_LINE] for start in range(0, len(document), BYTES_A_LINE)]
    for index, part in enumerate(parts, 1):
        yield f"{MARK} {crc32(document):08x} {index}/{len(parts)} {part.hex()}"


def documents_in(lines: Iterable[str]) -> tuple[list[bytes], list[Incomplete]]:
    """The documents that `lines` carry, each once, in the order of their first lines; and those that are incomplete.

    Lines may come in any order and more than once: a log holds what a status holds, too.
    """
    found: dict[str, CarriedParts] = {}
    for line in lines:
        if MARK not in line or not (match := LINE.search(line)):
            continue
        parts = found.setdefault(match["crc"], CarriedParts(int(match["count"])))
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


def _joined(name: str, parts: CarriedParts) -> bytes | Incomplete:
    if parts.missing():
        return Incomplete(name, f"{parts.missing()} of {parts.count} lines are missing")
    document = bytes.fromhex("".join(parts.seen[index] for index in range(1, parts.count + 1)))
    if f"{crc32(document):08x}" != name:
        return Incomplete(name, "its lines are damaged: the CRC-32 is another")
    return document
