"""Builds glibc shims for the Android system libraries, so that Android's x86_64 and arm64 binaries load on Linux.

An Android library refers to its system functions as `malloc@LIBC` of `libc.so`. A shim is a library of that soname
which exports exactly the required names, in that version. Most of them jump to the glibc function of the same name;
those that differ in layout or numbers are written in `sources/*.c`. The Android binaries are not changed.
"""

import hashlib
import re
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from packager.core.errors import ToolError
from packager.engines.environments.environment import make_once
from packager.engines.environments.zig import VARIABLES, compiler
from packager.files import elf
from packager.files.hashes import sha256_of
from packager.files.processes import commands, downloads
from packager.files.user_cache import cache_folder

SOURCES = Path(__file__).with_name("sources")
COMPILER = "android-zig"
# An explicit target makes zig use its own headers and libc stubs: the result does not depend on the machine.
# 2.34 is the first glibc with dlopen and the pthread functions in libc.so.6.
ZIG_TARGET = "x86_64-linux-gnu.2.34"
ABI = "x86_64"
HAND_WRITTEN = re.compile(r"^BIONIC\((\w+)\);$", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class Processor:
    """A processor that shims can be built for."""

    target: str
    """zig's name of it, with the version of glibc"""
    jump: str
    """instructions that jump to the glibc function `{}` and leave all its arguments as they are"""


PROCESSORS = {
    ABI: Processor(target=ZIG_TARGET, jump="jmp *{0}@GOTPCREL(%rip)"),
    "arm64-v8a": Processor(
        target="aarch64-linux-gnu.2.34",
        jump="adrp x16, :got:{0}\n ldr x16, [x16, :got_lo12:{0}]\n br x16",
    ),
}
"""Android's name of a processor -> how to build for it."""


def shims(binaries: Sequence[Path]) -> Path:
    """A folder of shims for all system libraries that `binaries` need, for their processor, built once per content.

    Raises ToolError if a binary needs a library or name that neither `sources/` nor glibc has, or if their processors
    are others than those of PROCESSORS, or differ.
    """
    folder = cache_folder() / "bionic" / content_key(binaries)
    make_once(folder, lambda made: build(binaries, made))
    return folder


def content_key(files: Sequence[Path] = ()) -> str:
    """Hex digest of all inputs of the shims for `files`."""
    digest = hashlib.sha256(downloads.pin(COMPILER).sha256.encode())
    for path in [Path(__file__), *sorted(SOURCES.glob("*.[ch]")), *files]:
        digest.update(f"{path.name} {sha256_of(path)}\n".encode())
    return digest.hexdigest()[:32]


def build(binaries: Sequence[Path], folder: Path) -> None:
    """Builds shims for all system libraries that `binaries` need into `folder`."""
    contents = {binary.name: binary.read_bytes() for binary in binaries}
    libraries = [elf.read(content, name) for name, content in contents.items()]
    needed = {soname for library in libraries for soname in library.needed}
    processor = _processor({library.abi for library in libraries})
    symbols = {symbol for file, content in contents.items() for symbol in elf.symbols(content, file)}
    imports = {symbol for symbol in symbols if not symbol.is_defined}
    for soname in sorted(needed - contents.keys()):
        source = SOURCES / f"{soname.removesuffix('.so')}.c"
        if not source.is_file():
            raise ToolError(
                f"the Android binaries need {soname}, which has no shim",
                hint=f"add a shim as packager/engines/environments/bionic/sources/{source.name}",
            )
        wanted = {name.name for name in imports if name.library == soname and name.is_function}
        forwarded = wanted - set(HAND_WRITTEN.findall(source.read_text(encoding="utf-8")))
        build_one(source, folder / soname, forwarded, processor=processor)
    _check_complete([name for name in imports if name.library not in contents], folder)


def _processor(abis: Iterable[str]) -> Processor:
    names = sorted(abis)
    if len(names) != 1 or names[0] not in PROCESSORS:
        raise ToolError(
            f"no shims for binaries of {', '.join(name or 'an unknown processor' for name in names) or 'no processor'}",
            hint=f"give binaries of one of these: {', '.join(PROCESSORS)}",
        )
    return PROCESSORS[names[0]]


def build_one(
    source: Path, library: Path, forwarded: Iterable[str] = (), *, processor: Processor = PROCESSORS[ABI]
) -> None:
    """Compiles `source` to the shared library `library`, with jumps to the `forwarded` glibc functions."""
    with tempfile.TemporaryDirectory() as scratch:
        assembly = Path(scratch, "forward.S")
        assembly.write_text(_forwarders(sorted(forwarded), processor), encoding="utf-8", newline="\n")
        versions = Path(scratch, "versions.map")
        versions.write_text("LIBC { global: *; local: bionic_*; };\n", encoding="utf-8", newline="\n")
        flags = ["-std=gnu11", "-O2", "-fPIC", "-shared", "-Wall", "-Wextra", "-Werror", "-fno-builtin"]
        commands.run(
            [
                compiler(),
                "cc",
                "-target",
                processor.target,
                *flags,
                "-fno-sanitize=undefined",
                f"-Wl,-soname,{library.name}",
                f"-Wl,--version-script={versions}",
                "-Wl,-z,defs",
                # Without the compiler's own library, which zig would have to compile: its memcpy and memset would
                # replace glibc's.
                "-nodefaultlibs",
                "-rtlib=none",
                "-o",
                library,
                source,
                assembly,
                "-lc",
                "-lm",
            ],
            what=f"building the shim for {library.name}",
            inherits=VARIABLES,
            hint="a name that glibc lacks needs a function in packager/engines/environments/bionic/sources/",
        )


def _forwarders(symbols: Sequence[str], processor: Processor) -> str:
    """Assembly with one jump per symbol: all arguments reach glibc unchanged."""
    lines = [".text"]
    for symbol in symbols:
        lines += [
            f".globl bionic_{symbol}",
            f".type bionic_{symbol}, @function",
            f"bionic_{symbol}: {processor.jump.format(symbol)}",
            f".symver bionic_{symbol}, {symbol}@LIBC",
        ]
    return "\n".join([*lines, '.section .note.GNU-stack, "", @progbits', ""])


def _check_complete(imports: Iterable[elf.Symbol], folder: Path) -> None:
    """Raises ToolError for missing names; the loader would report them only at the first call, by ending the
    process."""
    built = {library.name: library.read_bytes() for library in folder.iterdir()}
    symbols = {symbol for file, content in built.items() for symbol in elf.symbols(content, file)}
    defined = {symbol.name for symbol in symbols if symbol.is_defined}
    missing = sorted({name.name for name in imports if not name.is_weak} - defined)
    if missing:
        raise ToolError(f"no shim for {', '.join(missing)}", hint=f"add them to {SOURCES}")
    circular = sorted(name for file, content in built.items() for name in elf.looked_up(content, file))
    if circular:
        raise ToolError(
            f"shims that would call themselves: {', '.join(circular)}",
            hint="add them to the sources: the linker did not find these names in glibc",
        )
