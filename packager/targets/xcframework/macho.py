"""Reads Apple's machine code as far as its use in apps depends on it: Mach-O files, fat files, archives.

Own code, because little is needed and libraries lack half of it: macholib and LIEF open no static archives, the usual
form of ONNX Runtime for iOS.
"""

import mmap
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from packager.core.errors import ToolError
from packager.core.user_files import opened

Kind = Literal["static", "object", "dynamic", "other"]
Bytes = bytes | mmap.mmap

FAT = {0xCAFEBABE: struct.Struct(">IIIII"), 0xCAFEBABF: struct.Struct(">IIQQII")}
"""first word of a fat file -> layout of an architecture's entry"""
MAX_ARCHITECTURES = 32
"""Java class files begin with the same word as a fat file, followed by a number above 40."""
ARCHIVE, THIN_ARCHIVE = b"!<arch>\n", b"!<thin>\n"
MEMBER_END = b"`\n"
MEMBER = 60
"""bytes of a member's header in an archive"""
THIN = {b"\xce\xfa\xed\xfe": False, b"\xcf\xfa\xed\xfe": True}
"""first bytes -> whether it is 64-bit; all current Apple processors are little-endian"""
BITCODE = (b"BC\xc0\xde", b"\xde\xc0\x17\x0b")
ARCHITECTURES = {
    (0x0100000C, 0): "arm64",
    (0x0100000C, 1): "arm64",
    (0x0100000C, 2): "arm64e",
    (0x0200000C, 1): "arm64_32",
    (0x01000007, 3): "x86_64",
    (0x01000007, 8): "x86_64h",
    (7, 3): "i386",
    (12, 6): "armv6",
    (12, 9): "armv7",
    (12, 11): "armv7s",
    (12, 12): "armv7k",
}
KINDS: dict[int, Kind] = {1: "object", 6: "dynamic"}
PLATFORMS = {
    1: ("macos", ""),
    2: ("ios", ""),
    3: ("tvos", ""),
    4: ("watchos", ""),
    6: ("ios", "maccatalyst"),
    7: ("ios", "simulator"),
    8: ("tvos", "simulator"),
    9: ("watchos", "simulator"),
    11: ("xros", ""),
    12: ("xros", "simulator"),
}
"""LC_BUILD_VERSION's number -> platform and variant in the terms of Info.plist"""
OLD_PLATFORMS = {0x24: "macos", 0x25: "ios", 0x2F: "tvos", 0x30: "watchos"}
"""LC_VERSION_MIN_* -> platform; the processor distinguished simulators at that time"""
SYMTAB, ID_DYLIB, SIGNATURE, BUILD_VERSION = 0x02, 0x0D, 0x1D, 0x32
MAX_SECTIONS = 255
STAB, EXTERNAL, TYPE = 0xE0, 0x01, 0x0E


@dataclass(frozen=True)
class _Sections:
    """Layout of the section list in a segment's load command."""

    count_at: int
    first: int
    size: int
    place_at: int
    """position of size and offset in a section"""
    place: str


SECTIONS = {
    0x01: _Sections(count_at=48, first=56, size=68, place_at=36, place="<II"),
    0x19: _Sections(count_at=64, first=72, size=80, place_at=40, place="<QI"),
}
"""LC_SEGMENT and LC_SEGMENT_64"""


@dataclass(frozen=True, order=True)
class Build:
    """Platform that a piece of code was compiled for."""

    platform: str
    """`ios`, `macos` ...; empty if unknown"""
    variant: str
    """`simulator`, `maccatalyst` or empty"""
    minimum_os: str
    """oldest supported system: `15.1`"""


@dataclass(frozen=True, kw_only=True)
class Code:
    """The machine code for one architecture."""

    architecture: str
    kind: Kind
    builds: frozenset[Build]
    """builds of all object files in it; empty if none states one"""
    undefined: frozenset[str]
    """symbols that the linker must find elsewhere, and selectors as `_objc_msgSend$NAME`"""
    exports: frozenset[str]
    install_name: str = ""
    """install name of a dynamic library"""
    object_count: int = 1
    has_bitcode: bool = False
    is_signed: bool = False
    start: int = 0
    """offset in the file"""
    size_bytes: int = 0


@dataclass
class _Draft:
    """Facts collected from the objects of one architecture."""

    architectures: set[str] = field(default_factory=set)
    kinds: set[Kind] = field(default_factory=set)
    builds: set[Build] = field(default_factory=set)
    undefined: set[bytes] = field(default_factory=set)
    exports: set[bytes] = field(default_factory=set)
    install_name: str = ""
    object_count: int = 0
    has_bitcode: bool = False
    is_signed: bool = False


def read(path: Path) -> tuple[Code, ...]:
    """The code in `path`, one piece per architecture. Raises ToolError if it is not machine code, or truncated."""
    try:
        with opened(path) as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            return tuple(_piece(content, start, size) for start, size in _pieces(content))
    except (struct.error, ValueError, IndexError) as error:
        raise ToolError(
            f"{path.name}: not Apple's machine code ({error})", hint="build or download it again"
        ) from error
    except OSError as error:
        raise ToolError(f"{path}: {error.strerror}", hint="check its permissions") from error


def _pieces(content: Bytes) -> Iterator[tuple[int, int]]:
    """Offset and size of each architecture of a fat file, or of the whole file."""
    (magic,) = struct.unpack_from(">I", content)
    if magic not in FAT:
        yield 0, len(content)
        return
    (count,) = struct.unpack_from(">I", content, 4)
    if not 0 < count <= MAX_ARCHITECTURES:
        raise ValueError(f"{count} architectures")
    for index in range(count):
        _, _, start, size, *_ = FAT[magic].unpack_from(content, 8 + index * FAT[magic].size)
        if start + size > len(content):
            raise ValueError(f"it ends after {len(content)} bytes of {start + size}")
        yield start, size


def _piece(content: Bytes, start: int, size: int) -> Code:
    draft = _Draft()
    is_archive = content[start : start + 8] in (ARCHIVE, THIN_ARCHIVE)
    if content[start : start + 8] == THIN_ARCHIVE:
        raise ValueError("a thin archive, which only refers to its files")
    for begin, end in _members(content, start, size) if is_archive else [(start, start + size)]:
        _add(draft, content, begin, end)
    if len(draft.architectures) > 1:
        raise ValueError(f"objects for several architectures in one archive: {', '.join(sorted(draft.architectures))}")
    if not draft.architectures:
        raise ValueError("no object files in it")
    undefined = (draft.undefined - draft.exports) | {name for name in draft.undefined if b"objc_msgSend$" in name}
    return Code(
        architecture=draft.architectures.pop(),
        kind="static" if is_archive else draft.kinds.pop(),
        builds=frozenset(draft.builds),
        undefined=frozenset(name.decode("utf-8", "replace") for name in undefined),
        exports=frozenset(name.decode("utf-8", "replace") for name in draft.exports),
        install_name=draft.install_name,
        object_count=draft.object_count,
        has_bitcode=draft.has_bitcode,
        is_signed=draft.is_signed,
        start=start,
        size_bytes=size,
    )


def _members(content: Bytes, start: int, size: int) -> Iterator[tuple[int, int]]:
    """Start and end of each file in a BSD archive, without the symbol table."""
    at, end = start + len(ARCHIVE), start + size
    while at + MEMBER <= end:
        header = content[at : at + MEMBER]
        if header[58:60] != MEMBER_END:
            raise ValueError(f"no archive member at byte {at - start}")
        length = int(header[48:58])
        begin, stop = at + MEMBER, at + MEMBER + length
        if length < 0 or stop > end:
            raise ValueError(f"it ends after {size} bytes of {stop - start}")
        name = header[:16].rstrip()
        if name.startswith(b"#1/"):
            long = int(name[3:])
            name = content[begin : begin + long].rstrip(b"\0")
            begin += long
        if not name.startswith((b"__.SYMDEF", b"/")) and begin < stop:
            yield begin, stop
        at = stop + length % 2


@dataclass(frozen=True)
class _Object:
    """One object file or linked file, with its position."""

    content: Bytes
    begin: int
    end: int
    is_64: bool
    architecture: str


def _add(draft: _Draft, content: Bytes, begin: int, end: int) -> None:
    """Adds the object at `begin` to `draft`. Archive members without code are skipped."""
    magic = bytes(content[begin : begin + 4])
    if magic in BITCODE:
        draft.has_bitcode = True
        return
    if magic not in THIN:
        return
    cpu, subtype, kind, count, commands_size, _ = struct.unpack_from("<6I", content, begin + 4)
    architecture = ARCHITECTURES.get((cpu, subtype & 0xFFFFFF), f"cpu-{cpu:#x}-{subtype & 0xFFFFFF}")
    found = _Object(content, begin, end, THIN[magic], architecture)
    at = begin + (32 if found.is_64 else 28)
    stop = at + commands_size
    if stop > end:
        raise ValueError("its load commands are truncated")
    draft.architectures.add(architecture)
    draft.kinds.add(KINDS.get(kind, "other"))
    draft.object_count += 1
    for _ in range(count):
        command, length = struct.unpack_from("<II", content, at)
        if length < 8 or at + length > stop:
            raise ValueError("a load command is longer than their table")
        _obey(draft, found, at, command & 0x7FFFFFFF, length)
        at += length


def _obey(draft: _Draft, found: _Object, at: int, command: int, length: int) -> None:
    """Reads one load command."""
    if command == BUILD_VERSION:
        platform, minimum = struct.unpack_from("<II", found.content, at + 8)
        draft.builds.add(Build(*PLATFORMS.get(platform, ("", "")), _version(minimum)))
    elif command in OLD_PLATFORMS:
        (minimum,) = struct.unpack_from("<I", found.content, at + 8)
        is_simulator = OLD_PLATFORMS[command] != "macos" and found.architecture in ("i386", "x86_64")
        draft.builds.add(Build(OLD_PLATFORMS[command], "simulator" if is_simulator else "", _version(minimum)))
    elif command == SYMTAB:
        _add_symbols(draft, found, at)
    elif command == ID_DYLIB:
        (offset,) = struct.unpack_from("<I", found.content, at + 8)
        name = bytes(found.content[at + offset : at + length]).split(b"\0")[0]
        draft.install_name = name.decode("utf-8", "replace")
    elif command == SIGNATURE:
        draft.is_signed = True
    elif command in SECTIONS:
        _add_sections(draft, found, at, SECTIONS[command])


def _add_symbols(draft: _Draft, found: _Object, at: int) -> None:
    table, count, strings_at, strings_size = struct.unpack_from("<4I", found.content, at + 8)
    entry = struct.Struct("<IBBHQ" if found.is_64 else "<IBBHI")
    strings = _within(found, strings_at, strings_size)
    for name_at, kind, _, _, value in entry.iter_unpack(_within(found, table, count * entry.size)):
        if kind & STAB or not kind & EXTERNAL:
            continue
        name = strings[name_at : strings.find(b"\0", name_at)]
        # A common symbol looks undefined, with its size as the value: the linker allocates it.
        is_missing = kind & TYPE == 0 and value == 0
        (draft.undefined if is_missing else draft.exports).add(name)


def _add_sections(draft: _Draft, found: _Object, at: int, layout: _Sections) -> None:
    """Reads bitcode, and selectors of methods, for which older compilers create no symbols."""
    (count,) = struct.unpack_from("<I", found.content, at + layout.count_at)
    if count > MAX_SECTIONS:
        raise ValueError(f"{count} sections in a segment")
    for index in range(count):
        where = at + layout.first + index * layout.size
        section, segment = struct.unpack_from("<16s16s", found.content, where)
        length, offset = struct.unpack_from(layout.place, found.content, where + layout.place_at)
        if segment.startswith(b"__LLVM") and section.startswith((b"__bitcode", b"__bundle")):
            draft.has_bitcode = True
        elif section.startswith(b"__objc_methname"):
            names = _within(found, offset, length).split(b"\0")
            draft.undefined |= {b"_objc_msgSend$" + name for name in names if name}


def _within(found: _Object, offset: int, size: int) -> bytes:
    """Bytes of an object. Raises ValueError if it is shorter."""
    if found.begin + offset + size > found.end:
        raise ValueError("it is truncated")
    return bytes(found.content[found.begin + offset : found.begin + offset + size])


def _version(packed: int) -> str:
    """`15.1` for 0x000F0100; the third number only if it is not 0."""
    major, minor, patch = packed >> 16, packed >> 8 & 0xFF, packed & 0xFF
    return f"{major}.{minor}" + (f".{patch}" if patch else "")
