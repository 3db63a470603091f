"""Builds glibc stand-ins for the Android system libraries, so that Android's own x86_64 binaries load on Linux.

An Android library names its system functions as `malloc@LIBC` of `libc.so`. A stand-in is a library of that soname
which exports exactly the names asked for, in that version. Most only jump to the glibc function of the same name;
those that differ in layout or numbers are written out in `bionic_sources/*.c`. The Android binaries are not changed.
"""

import hashlib
import re
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile
from elftools.elf.gnuversions import GNUVerNeedSection, GNUVerSymSection
from elftools.elf.relocation import RelocationSection
from elftools.elf.sections import Section, SymbolTableSection

from packager import tools
from packager.errors import ToolError

AnySection = TypeVar("AnySection", bound=Section)

SOURCES = Path(__file__).with_name("bionic_sources")
# An explicit target makes zig use its own headers and libc stubs: the result does not depend on the machine.
# 2.34 is the first glibc with dlopen and the pthread functions in libc.so.6.
ZIG_TARGET = "x86_64-linux-gnu.2.34"
HAND_WRITTEN = re.compile(r"^BIONIC\((\w+)\);$", re.MULTILINE)


@dataclass(frozen=True)
class Import:
    """A name that a binary takes from a system library."""

    symbol: str
    library: str
    """soname the binary gives for it, or empty when the name has no version"""
    is_function: bool
    is_weak: bool


def stand_ins(binaries: Sequence[Path]) -> Path:
    """A folder of stand-ins for all system libraries that `binaries` need, built once per content.

    Raises ToolError when a binary needs a library or name that neither `bionic_sources/` nor glibc has.
    """
    folder = tools.cache_folder() / "bionic" / _content_key(binaries)
    if folder.is_dir():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        built = Path(scratch) / "built"
        built.mkdir()
        _build_all(binaries, built)
        try:
            built.rename(folder)
        except OSError:  # another process was first; its folder has the same content
            if not folder.is_dir():
                raise
    return folder


def _content_key(binaries: Sequence[Path]) -> str:
    digest = hashlib.sha256()
    for path in [Path(__file__), *sorted(SOURCES.glob("*.[ch]")), *binaries]:
        digest.update(f"{path.name} {tools.sha256_of(path)}\n".encode())
    return digest.hexdigest()[:32]


def _build_all(binaries: Sequence[Path], folder: Path) -> None:
    imports = {name for binary in binaries for name in _imports(binary)}
    own = {binary.name for binary in binaries}
    for library in sorted({name for binary in binaries for name in _needed(binary)} - own):
        source = SOURCES / f"{library.removesuffix('.so')}.c"
        if not source.is_file():
            raise ToolError(
                f"the Android binaries need {library}, which has no stand-in",
                hint=f"add tests/toolchain/bionic_sources/{source.name}",
            )
        wanted = sorted((name for name in imports if name.library == library), key=lambda name: name.symbol)
        _build(library, source, wanted, folder)
    _check_complete([name for name in imports if name.library not in own], folder)


def _build(library: str, source: Path, wanted: Iterable[Import], folder: Path) -> None:
    written = set(HAND_WRITTEN.findall(source.read_text(encoding="utf-8")))
    forwarded = [name.symbol for name in wanted if name.symbol not in written and name.is_function]
    with tempfile.TemporaryDirectory() as scratch:
        assembly = Path(scratch, "forward.S")
        assembly.write_text(_forwarders(forwarded), encoding="utf-8")
        versions = Path(scratch, "versions.map")
        versions.write_text("LIBC { global: *; local: bionic_*; };\n", encoding="utf-8")
        tools.run(
            [
                sys.executable,
                "-m",
                "ziglang",
                "cc",
                "-target",
                ZIG_TARGET,
                "-std=gnu11",
                "-O2",
                "-fPIC",
                "-shared",
                "-Wall",
                "-Wextra",
                "-Werror",
                "-fno-builtin",
                "-fno-sanitize=undefined",
                f"-Wl,-soname,{library}",
                f"-Wl,--version-script={versions}",
                "-Wl,-z,defs",
                # Without the compiler's own library: its memcpy and memset would take the place of glibc's.
                "-nodefaultlibs",
                "-o",
                folder / library,
                source,
                assembly,
                "-lc",
                "-lm",
            ],
            what=f"building the stand-in for {library}",
            hint="a name glibc does not have needs a function in tests/toolchain/bionic_sources/",
        )


def _forwarders(symbols: Sequence[str]) -> str:
    """Assembly with one jump per symbol: every register, and so every argument, reaches glibc as it was."""
    lines = [".text"]
    for symbol in symbols:
        lines += [
            f".globl bionic_{symbol}",
            f".type bionic_{symbol}, @function",
            f"bionic_{symbol}: jmp *{symbol}@GOTPCREL(%rip)",
            f".symver bionic_{symbol}, {symbol}@LIBC",
        ]
    return "\n".join([*lines, '.section .note.GNU-stack, "", @progbits', ""])


def _check_complete(imports: Iterable[Import], folder: Path) -> None:
    """The loader would report a missing name only when it is first called, by ending the process."""
    defined = {name for library in folder.iterdir() for name in _exports(library)}
    missing = sorted({name.symbol for name in imports if not name.is_weak} - defined)
    if missing:
        raise ToolError(f"no stand-in for {', '.join(missing)}", hint="write them in tests/toolchain/bionic_sources/")
    circular = sorted(name for library in folder.iterdir() for name in _own_references(library))
    if circular:
        raise ToolError(
            f"stand-ins that would call themselves: {', '.join(circular)}",
            hint="the linker found these names elsewhere than in glibc",
        )


def _needed(binary: Path) -> list[str]:
    with binary.open("rb") as file:
        dynamic = _section(ELFFile(file), ".dynamic", DynamicSection)
        return [str(vars(tag)["needed"]) for tag in dynamic.iter_tags("DT_NEEDED")]


def _imports(binary: Path) -> Iterator[Import]:
    with binary.open("rb") as file:
        elf = ELFFile(file)
        owners = _version_owners(elf)
        versions = _section(elf, ".gnu.version", GNUVerSymSection)
        for index, symbol in enumerate(_symbols(elf).iter_symbols()):
            if symbol["st_shndx"] == "SHN_UNDEF" and symbol.name:
                yield Import(
                    symbol.name,
                    owners.get(versions.get_symbol(index)["ndx"], ""),
                    symbol["st_info"]["type"] != "STT_OBJECT",
                    symbol["st_info"]["bind"] == "STB_WEAK",
                )


def _version_owners(elf: ELFFile) -> Mapping[int | str, str]:
    """Version index -> soname of the library it is asked from."""
    return {
        auxiliary["vna_other"]: str(library.name)
        for library, auxiliaries in _section(elf, ".gnu.version_r", GNUVerNeedSection).iter_versions()
        for auxiliary in auxiliaries
    }


def _exports(library: Path) -> Iterator[str]:
    with library.open("rb") as file:
        for symbol in _symbols(ELFFile(file)).iter_symbols():
            if symbol["st_shndx"] != "SHN_UNDEF" and symbol.name:
                yield symbol.name


def _own_references(library: Path) -> Iterator[str]:
    """Names the loader is to look up for `library` although `library` itself defines them."""
    with library.open("rb") as file:
        elf = ELFFile(file)
        relocations = [
            entry
            for section in elf.iter_sections()
            if isinstance(section, RelocationSection)
            for entry in section.iter_relocations()
        ]
        for index in sorted({entry["r_info_sym"] for entry in relocations} - {0}):
            symbol = _symbols(elf).get_symbol(index)
            if symbol["st_shndx"] != "SHN_UNDEF":
                yield symbol.name


def _symbols(elf: ELFFile) -> SymbolTableSection:
    return _section(elf, ".dynsym", SymbolTableSection)


def _section(elf: ELFFile, name: str, kind: type[AnySection]) -> AnySection:
    section = elf.get_section_by_name(name)
    if not isinstance(section, kind):
        raise ToolError(f"an Android binary without {name}", hint="is it a shared library of the NDK?")
    return section
