"""Reads imports and exports of a 64-bit shared library, as defined by the System V ABI."""

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from packager.core.errors import ToolError

STRTAB, RELA, DYNAMIC, DYNSYM, VERNEED, VERSYM = 3, 4, 6, 11, 0x6FFFFFFE, 0x6FFFFFFF
"""section types"""
DT_NEEDED = 1
STT_OBJECT, STB_WEAK, SHN_UNDEF = 1, 2, 0


@dataclass(frozen=True)
class Symbol:
    """A name in the dynamic symbol table."""

    name: str
    library: str
    """soname of the library that must provide it; empty for a name without a version"""
    is_defined: bool
    is_function: bool
    is_weak: bool


@dataclass(frozen=True)
class Library:
    needed: tuple[str, ...]
    """sonames of the libraries that it depends on"""
    imports: tuple[Symbol, ...]
    exports: tuple[str, ...]
    looked_up: tuple[str, ...]
    """names that the loader looks up although the library defines them itself"""


def read(path: Path) -> Library:
    """Reads a library. Raises ToolError if `path` is not a 64-bit shared library."""
    content = path.read_bytes()
    if content[:6] != b"\x7fELF\x02\x01":
        raise ToolError(f"{path}: not a 64-bit ELF file", hint="use a shared library built with the NDK")
    sections = _sections(content)
    if DYNSYM not in sections or DYNAMIC not in sections:
        raise ToolError(f"{path}: not a dynamic library", hint="use a shared library built with the NDK")
    symbols = list(_symbols(content, sections))
    looked_up = {symbols[index].name for index in _relocated(content, sections) if symbols[index].is_defined}
    return Library(
        needed=tuple(_needed(content, sections)),
        imports=tuple(symbol for symbol in symbols if symbol.name and not symbol.is_defined),
        exports=tuple(symbol.name for symbol in symbols if symbol.name and symbol.is_defined),
        looked_up=tuple(sorted(looked_up)),
    )


@dataclass(frozen=True)
class _Section:
    offset: int
    size: int
    strings: int
    """offset of its string table"""


def _sections(content: bytes) -> Mapping[int, list[_Section]]:
    """Type -> sections."""
    (table,) = struct.unpack_from("<Q", content, 40)
    size, count = struct.unpack_from("<HH", content, 58)
    headers = [struct.unpack_from("<IIQQQQII", content, table + index * size) for index in range(count)]
    found: dict[int, list[_Section]] = {}
    for _, kind, _, _, offset, length, link, _ in headers:
        found.setdefault(kind, []).append(_Section(offset, length, headers[link][4]))
    return found


def _symbols(content: bytes, sections: Mapping[int, list[_Section]]) -> Iterator[Symbol]:
    section = sections[DYNSYM][0]
    owners = _version_owners(content, sections)
    for index in range(section.size // 24):
        name, info, _, place = struct.unpack_from("<IBBH", content, section.offset + index * 24)
        version = 0
        if VERSYM in sections:
            (version,) = struct.unpack_from("<H", content, sections[VERSYM][0].offset + index * 2)
        yield Symbol(
            name=_text(content, section.strings + name),
            library=owners.get(version, ""),
            is_defined=place != SHN_UNDEF,
            is_function=info & 0xF != STT_OBJECT,
            is_weak=info >> 4 == STB_WEAK,
        )


def _version_owners(content: bytes, sections: Mapping[int, list[_Section]]) -> Mapping[int, str]:
    """Version index -> soname of the library that provides it."""
    owners: dict[int, str] = {}
    for section in sections.get(VERNEED, []):
        entry, step = section.offset, 1
        while step:
            _, count, file, first, step = struct.unpack_from("<HHIII", content, entry)
            auxiliary = entry + first
            for _ in range(count):
                _, _, version, _, following = struct.unpack_from("<IHHII", content, auxiliary)
                owners[version] = _text(content, section.strings + file)
                auxiliary += following
            entry += step
    return owners


def _needed(content: bytes, sections: Mapping[int, list[_Section]]) -> Iterator[str]:
    section = sections[DYNAMIC][0]
    for offset in range(section.offset, section.offset + section.size, 16):
        tag, value = struct.unpack_from("<QQ", content, offset)
        if tag == DT_NEEDED:
            yield _text(content, section.strings + value)


def _relocated(content: bytes, sections: Mapping[int, list[_Section]]) -> set[int]:
    """Indices of the symbols in relocations."""
    return {
        struct.unpack_from("<Q", content, offset + 8)[0] >> 32
        for section in sections.get(RELA, [])
        for offset in range(section.offset, section.offset + section.size, 24)
    }


def _text(content: bytes, offset: int) -> str:
    return content[offset : content.index(b"\0", offset)].decode()
