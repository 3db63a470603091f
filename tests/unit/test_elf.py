"""Shared libraries are read as the linker wrote them; damaged ones end in one error, and soon."""

import random
import struct
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import onnxruntime
import pytest

from packager.core.errors import ToolError
from packager.files import elf
from tests.nights import examples
from tests.unit.test_runtime_library import shared_library

NEEDED = ("libstdc++.so.6", "libm.so.6", "libgcc_s.so.1", "libc.so.6")

READERS = (elf.read, elf.symbols, elf.looked_up)

LIMIT_S = 60
"""a damaged file of a few KB takes milliseconds, an endless one forever"""


@pytest.fixture(scope="module")
def library() -> bytes:
    """A small library of a linker's, with section headers and versions."""
    path = Path(onnxruntime.__file__).parent / "capi" / "libonnxruntime_providers_shared.so"
    if not path.is_file():
        pytest.skip("onnxruntime for this system comes without an ELF library")
    return path.read_bytes()


def test_a_library_says_what_it_needs_and_where_symbols_come_from(library: bytes) -> None:
    found = elf.read(library, "x")
    assert (found.soname, found.needed, found.has_gnu_hash) == ("libonnxruntime_providers_shared.so", NEEDED, True)
    assert found.page_bytes >= 4096
    symbols = {symbol.name: symbol for symbol in elf.symbols(library, "x")}
    assert symbols["__cxa_finalize"] == elf.Symbol(
        name="__cxa_finalize", library="libc.so.6", is_defined=False, is_function=True, is_weak=True
    )
    assert symbols["__gmon_start__"].library == ""
    assert {name for name, symbol in symbols.items() if symbol.is_defined} >= {"Provider_GetHost", "Provider_SetHost"}
    assert elf.looked_up(library, "x") == ()


@pytest.mark.parametrize(("machine", "abi"), [(183, "arm64-v8a"), (62, "x86_64"), (243, "")])
def test_a_processor_has_androids_name(machine: int, abi: str) -> None:
    assert elf.read(shared_library(machine=machine), "x").abi == abi


def test_libraries_without_sections_or_with_other_bytes_are_refused() -> None:
    with pytest.raises(ToolError, match="it has no dynamic symbols"):
        elf.symbols(shared_library(), "x")
    for content, words in [
        (b"", "Magic number does not match"),
        (b"MZ" + bytes(100), "Magic number does not match"),
        (shared_library()[:40], r"expected \d+, found 0"),
        (shared_library()[:-20], r"it ends after \d+ bytes of \d+"),
        (shared_library().replace(struct.pack("<II", 2, 6), struct.pack("<II", 4, 6)), "it has no dynamic section"),
        (shared_library().replace(struct.pack("<HH", 56, 2), struct.pack("<HH", 56, 60000)), "headers are longer"),
        (shared_library().replace(struct.pack("<QQ", 5, 176), struct.pack("<QQ", 5, 1 << 60)), "are inconsistent"),
    ]:
        with pytest.raises(ToolError, match=rf"^lib\.so: not a shared library \(.*{words}.*\)$"):
            elf.read(content, "lib.so")


def test_a_damaged_library_is_read_or_refused_and_soon(library: bytes) -> None:
    began = time.monotonic()
    for content in (*damaged(library), *damaged(shared_library(soname="libonnxruntime.so", needed="libc.so"))):
        for read in READERS:
            with suppress(ToolError):
                read(content, "x")
            assert time.monotonic() - began < LIMIT_S


def damaged(content: bytes) -> Iterator[bytes]:
    """Cut files, and files with other bytes, most of them in the headers."""
    chance = random.Random(7)
    yield from (content[: chance.randrange(len(content))] for _ in range(examples(40)))
    for _ in range(examples(120)):
        changed = bytearray(content)
        for _ in range(chance.randint(1, 8)):
            place = chance.randrange(chance.choice([64, 256, len(changed)]))
            changed[place] = chance.choice([0, 255, chance.randrange(256), changed[place] ^ 1 << chance.randrange(8)])
        yield bytes(changed)


def test_a_version_table_that_never_ends_is_refused(library: bytes) -> None:
    """The number of its entries is in the section header, and their distance in the entries."""
    (table,) = struct.unpack_from("<Q", library, 40)
    (count,) = struct.unpack_from("<H", library, 60)
    headers = [table + 64 * index for index in range(count)]
    (versions,) = (at for at in headers if struct.unpack_from("<I", library, at + 4)[0] == 0x6FFFFFFE)
    (start,) = struct.unpack_from("<Q", library, versions + 24)
    endless = bytearray(library)
    struct.pack_into("<I", endless, versions + 44, 0xFFFFFFFF)
    struct.pack_into("<I", endless, start + 12, 0)
    began = time.monotonic()
    elf.symbols(bytes(endless), "x")
    assert time.monotonic() - began < LIMIT_S
