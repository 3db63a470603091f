"""What is in Mach-O objects and static libraries: symbols, and the system they are built for."""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

MAGIC_64 = 0xFEEDFACF
LC_SYMTAB = 0x2
LC_BUILD_VERSION = 0x32
PLATFORMS = {1: "macos", 2: "ios", 7: "ios-simulator"}
N_STAB, N_TYPE, N_EXT = 0xE0, 0x0E, 0x01
"""Bits of a symbol's type: it is for debuggers alone; where it is, 0 for nowhere; others see it (<mach-o/nlist.h>)."""
ARCHIVE = b"!<arch>\n"
ENTRY = 60


@dataclass(frozen=True)
class BuildVersion:
    platform: str
    minimum: str
    """the oldest system that runs it: `15.0`"""


@dataclass(frozen=True)
class Symbol:
    name: str
    is_defined: bool


def build_version(path: Path) -> BuildVersion:
    """Of an object. Raises ValueError when it names none."""
    data = path.read_bytes()
    for command, at in _commands(data):
        if command == LC_BUILD_VERSION:
            platform, minimum = struct.unpack_from("<II", data, at + 8)
            return BuildVersion(PLATFORMS.get(platform, str(platform)), f"{minimum >> 16}.{minimum >> 8 & 0xFF}")
    raise ValueError(f"{path} has no LC_BUILD_VERSION")


def undefined_symbols(path: Path) -> set[str]:
    """The names that an object, or the members of a static library, expect of others."""
    symbols = _symbols(path)
    return {each.name for each in symbols if not each.is_defined} - {each.name for each in symbols if each.is_defined}


def defined_symbols(path: Path) -> set[str]:
    """The names that an object or static library gives to others."""
    return {each.name for each in _symbols(path) if each.is_defined}


def _symbols(path: Path) -> set[Symbol]:
    return {symbol for member in _members(path.read_bytes()) for symbol in _symbols_of(member)}


def _members(data: bytes) -> Iterator[bytes]:
    """The Mach-O objects of a static library; `data` itself when it is no library."""
    if not data.startswith(ARCHIVE):
        yield data
        return
    start = len(ARCHIVE)
    while start < len(data):
        name, size = data[start : start + 16], int(data[start + 48 : start + 58])
        # BSD's ar writes a long name in front of the content: `#1/20` is one of 20 bytes.
        own_name = int(name[3:]) if name.startswith(b"#1/") else 0
        member = data[start + ENTRY + own_name : start + ENTRY + size]
        if member[:4] == struct.pack("<I", MAGIC_64):
            yield member
        start += ENTRY + size + size % 2


def _symbols_of(data: bytes) -> Iterator[Symbol]:
    for command, at in _commands(data):
        if command == LC_SYMTAB:
            table, count, texts, _ = struct.unpack_from("<4I", data, at + 8)
            for index in range(count):
                offset, kind = struct.unpack_from("<IB", data, table + 16 * index)
                if kind & N_EXT and not kind & N_STAB:
                    start = texts + offset
                    name = data[start : data.index(b"\0", start)].decode()
                    yield Symbol(name, bool(kind & N_TYPE))


def _commands(data: bytes) -> Iterator[tuple[int, int]]:
    """The load commands of an object: what each is, and where it starts."""
    magic, _, _, _, count = struct.unpack_from("<5I", data)
    if magic != MAGIC_64:
        raise ValueError(f"no 64-bit Mach-O object: it begins with {magic:#x}")
    at = 32
    for _ in range(count):
        command, size = struct.unpack_from("<II", data, at)
        yield command, at
        at += size
