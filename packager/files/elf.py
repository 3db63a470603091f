"""Reads shared libraries (ELF): what decides whether a package can ship one, and the names in their symbol tables."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

from packager.core.errors import ToolError

if TYPE_CHECKING:
    from elftools.elf.elffile import ELFFile
    from elftools.elf.sections import SymbolTableSection

SectionType = TypeVar("SectionType")

ABIS = {"EM_AARCH64": "arm64-v8a", "EM_ARM": "armeabi-v7a", "EM_386": "x86", "EM_X86_64": "x86_64"}
"""processor -> Android's name of it"""
COUNTED = ("SHT_DYNSYM", "SHT_GNU_verneed")
"""sections that are read as many times as they say"""
VERSION_BYTES = 16
"""size of the smallest entry of a version table"""


@dataclass(frozen=True, kw_only=True)
class SharedLibrary:
    abi: str
    """Android's name; empty for a processor that Android does not support"""
    soname: str
    """name that other libraries link against; empty if it has none"""
    needed: tuple[str, ...]
    """sonames of the libraries that it depends on"""
    page_bytes: int
    """largest memory page size that it supports"""
    has_gnu_hash: bool
    """whether it has a GNU hash table of its symbols"""


@dataclass(frozen=True, kw_only=True)
class Symbol:
    """A name in the dynamic symbol table."""

    name: str
    library: str
    """soname of the library that must provide it; empty for a name without a version"""
    is_defined: bool
    is_function: bool
    is_weak: bool


def read(content: bytes, name: str) -> SharedLibrary:
    """Reads the ELF file `content`; `name` is for messages. Raises ToolError if it is invalid or truncated."""
    with _opened(content, name) as file:
        _refuse_truncated(file, len(content))
        tags = list(_dynamic(file))
        loads = [segment["p_align"] for segment in file.iter_segments("PT_LOAD")]
        return SharedLibrary(
            abi=ABIS.get(file["e_machine"], ""),
            soname=next((text for tag, text in tags if tag == "DT_SONAME"), ""),
            needed=tuple(text for tag, text in tags if tag == "DT_NEEDED"),
            page_bytes=min(loads, default=0),
            has_gnu_hash=any(tag == "DT_GNU_HASH" for tag, _ in tags),
        )


def symbols(content: bytes, name: str) -> tuple[Symbol, ...]:
    """The dynamic symbols that have a name. Raises ToolError as `read` does, and for a library without section
    headers."""
    with _opened(content, name) as file:
        return tuple(symbol for symbol in _symbols(file) if symbol.name)


def looked_up(content: bytes, name: str) -> tuple[str, ...]:
    """Names that the loader looks up although the library defines them itself. Raises ToolError as `symbols`
    does."""
    from elftools.elf.relocation import RelocationSection

    with _opened(content, name) as file:
        table = list(_symbols(file))
        relocations = (each for section in _sections(file, RelocationSection) for each in section.iter_relocations())
        indices = {each["r_info_sym"] for each in relocations}
        return tuple(sorted({table[index].name for index in indices if table[index].is_defined}))


def runtime_version(content: bytes) -> str:
    """Version that libonnxruntime.so gives its exported symbols; empty if it gives none."""
    found = re.search(rb"\0VERS_(\d+\.\d+\.\d+)\0", content)
    return found.group(1).decode() if found else ""


@contextmanager
def _opened(content: bytes, name: str) -> Iterator["ELFFile"]:
    """The file as pyelftools reads it. Raises ToolError for what it raises, here and inside the block: it checks
    little, so damaged files end in Python's own errors, too."""
    from elftools.common.exceptions import ELFError
    from elftools.elf.elffile import ELFFile

    damage = (ELFError, ArithmeticError, AssertionError, AttributeError, LookupError, TypeError, ValueError)
    try:
        file = ELFFile(BytesIO(content))
        _refuse_long_tables(file, len(content))
        yield file
    except damage as error:
        words = str(error) or "its tables are inconsistent"
        raise ToolError(f"{name}: not a shared library ({words})", hint="build or download it again") from error


def _refuse_long_tables(file: "ELFFile", size_bytes: int) -> None:
    """Raises ValueError for a table that is longer than the file: reading it could take forever."""
    segments = file.num_segments() * file.structs.Elf_Phdr.sizeof()
    sections = file.num_sections() * file.structs.Elf_Shdr.sizeof()
    if max(segments, sections) > size_bytes:
        raise ValueError("its headers are longer than the file")
    for section in file.iter_sections():
        if section["sh_type"] in COUNTED and section["sh_size"] > size_bytes:
            raise ValueError(f"its section {section.name} is longer than the file")


def _refuse_truncated(file: "ELFFile", size_bytes: int) -> None:
    for segment in file.iter_segments("PT_LOAD"):
        end = segment["p_offset"] + segment["p_filesz"]
        if end > size_bytes:
            raise ValueError(f"it ends after {size_bytes} bytes of {end}")


def _dynamic(file: "ELFFile") -> Iterator[tuple[str, str]]:
    """The entries of the dynamic section: tag, and the text of those that are names."""
    from elftools.elf.dynamic import DynamicSegment

    segment = next(file.iter_segments("PT_DYNAMIC"), None)
    if not isinstance(segment, DynamicSegment):
        raise ValueError("it has no dynamic section")
    for tag in segment.iter_tags():
        yield tag.entry.d_tag, getattr(tag, "soname", getattr(tag, "needed", ""))


def _sections(file: "ELFFile", kind: type[SectionType]) -> Iterator[SectionType]:
    return (section for section in file.iter_sections() if isinstance(section, kind))


def _symbols(file: "ELFFile") -> Iterator[Symbol]:
    from elftools.elf.gnuversions import GNUVerSymSection

    table = _symbol_table(file)
    versions = next(_sections(file, GNUVerSymSection), None)
    owners = _version_owners(file)
    for index, symbol in enumerate(table.iter_symbols()):
        version = versions.get_symbol(index)["ndx"] if versions else 0
        yield Symbol(
            name=symbol.name,
            library=owners.get(version, ""),
            is_defined=symbol["st_shndx"] != "SHN_UNDEF",
            is_function=symbol["st_info"]["type"] != "STT_OBJECT",
            is_weak=symbol["st_info"]["bind"] == "STB_WEAK",
        )


def _symbol_table(file: "ELFFile") -> "SymbolTableSection":
    from elftools.elf.sections import SymbolTableSection

    table = next(file.iter_sections("SHT_DYNSYM"), None)
    if not isinstance(table, SymbolTableSection):
        raise ValueError("it has no dynamic symbols")
    return table


def _version_owners(file: "ELFFile") -> Mapping[int, str]:
    """Version index -> soname of the library that provides it."""
    from elftools.elf.gnuversions import GNUVerNeedSection

    owners: dict[int, str] = {}
    for section in _sections(file, GNUVerNeedSection):
        entries = (
            (entry["vna_other"], str(each.name)) for each, versions in section.iter_versions() for entry in versions
        )
        owners |= islice(entries, section["sh_size"] // VERSION_BYTES)
    return owners
