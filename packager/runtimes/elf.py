"""Reads the properties of a shared library that decide whether a package can ship it."""

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass

from packager.core.errors import ToolError

PT_LOAD, PT_DYNAMIC = 1, 2
DT_NEEDED, DT_STRTAB, DT_SONAME, DT_GNU_HASH = 1, 5, 14, 0x6FFFFEF5
MACHINES = {183: "arm64-v8a", 40: "armeabi-v7a", 3: "x86", 62: "x86_64"}
"""e_machine -> Android's name of the processor"""


@dataclass(frozen=True, kw_only=True)
class SharedLibrary:
    abi: str
    """Android's name; empty for a processor that Android does not support"""
    soname: str
    """name that other libraries link against; empty if it has none"""
    needed: tuple[str, ...]
    page_bytes: int
    """largest memory page size that it supports"""
    has_gnu_hash: bool
    """whether it has a GNU hash table of its symbols"""


@dataclass(frozen=True, kw_only=True)
class _Segment:
    kind: int
    offset: int
    address: int
    size: int
    alignment: int


def read(content: bytes, name: str) -> SharedLibrary:
    """Reads the ELF file `content`; `name` is for messages. Raises ToolError if it is invalid or truncated."""
    try:
        return _read(content)
    except (struct.error, ValueError, UnicodeDecodeError) as error:
        raise ToolError(f"{name}: not a shared library ({error})", hint="build or download it again") from error


def runtime_version(content: bytes) -> str:
    """Version that libonnxruntime.so gives its exported symbols; empty if it gives none."""
    found = re.search(rb"\0VERS_(\d+\.\d+\.\d+)\0", content)
    return found.group(1).decode() if found else ""


def _read(content: bytes) -> SharedLibrary:
    if content[:4] != b"\x7fELF" or content[5:6] != b"\x01":
        raise ValueError("the little-endian ELF header is missing")
    is_64 = content[4] == 2
    segments = list(_segments(content, is_64=is_64))
    tags = list(_dynamic(content, segments, is_64=is_64))
    strings = _offset(segments, next((value for tag, value in tags if tag == DT_STRTAB), 0))
    loads = [segment.alignment for segment in segments if segment.kind == PT_LOAD]
    (machine,) = struct.unpack_from("<H", content, 18)
    return SharedLibrary(
        abi=MACHINES.get(machine, ""),
        soname=next((_text(content, strings + value) for tag, value in tags if tag == DT_SONAME), ""),
        needed=tuple(_text(content, strings + value) for tag, value in tags if tag == DT_NEEDED),
        page_bytes=min(loads, default=0),
        has_gnu_hash=any(tag == DT_GNU_HASH for tag, _ in tags),
    )


def _segments(content: bytes, *, is_64: bool) -> Iterator[_Segment]:
    (table,) = struct.unpack_from("<Q" if is_64 else "<I", content, 32 if is_64 else 28)
    size, count = struct.unpack_from("<HH", content, 54 if is_64 else 42)
    for index in range(count):
        fields = struct.unpack_from("<IIQQQQQQ" if is_64 else "<IIIIIIII", content, table + index * size)
        if is_64:
            kind, _, offset, address, _, length, _, alignment = fields
        else:
            kind, offset, address, _, length, _, _, alignment = fields
        if kind == PT_LOAD and offset + length > len(content):
            raise ValueError(f"it ends after {len(content)} bytes of {offset + length}")
        yield _Segment(kind=kind, offset=offset, address=address, size=length, alignment=alignment)


def _dynamic(content: bytes, segments: list[_Segment], *, is_64: bool) -> Iterator[tuple[int, int]]:
    """The entries (tag, value) of the dynamic section."""
    found = [segment for segment in segments if segment.kind == PT_DYNAMIC]
    if not found:
        raise ValueError("it has no dynamic section")
    entry = struct.Struct("<QQ" if is_64 else "<II")
    for position in range(found[0].offset, found[0].offset + found[0].size, entry.size):
        tag, value = entry.unpack_from(content, position)
        if tag == 0:
            return
        yield tag, value


def _offset(segments: list[_Segment], address: int) -> int:
    """File offset of the memory address `address`."""
    for segment in segments:
        if segment.kind == PT_LOAD and segment.address <= address < segment.address + segment.size:
            return segment.offset + address - segment.address
    raise ValueError(f"no segment contains address {address:#x}")


def _text(content: bytes, position: int) -> str:
    return content[position : content.index(b"\0", position)].decode()
