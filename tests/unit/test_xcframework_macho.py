"""Headers of Apple's object files, and files that are refused as such."""

import struct
from pathlib import Path

import pytest

from packager.core.errors import ToolError
from packager.targets.xcframework.macho import Build, Code, read
from tests.cases import xcframework_cases as cases
from tests.cases.xcframework_cases import OBJECT, archive, code, fat, section


def read_one(tmp_path: Path, content: bytes) -> Code:
    (tmp_path / "library").write_bytes(content)
    (found,) = read(tmp_path / "library")
    return found


def test_libraries_and_archives_say_what_they_are(tmp_path: Path) -> None:
    found = read_one(tmp_path, code(undefined=["_stat"], exports=["_run"]))
    assert (found.architecture, found.kind, found.install_name) == ("arm64", "dynamic", cases.INSTALL_NAME)
    assert found.undefined == {"_stat"}
    assert found.exports == {"_run"}
    assert found.builds == {Build("ios", "", "15.1")}
    assert not found.has_bitcode
    assert read_one(tmp_path, code(minimum="15.1.2")).builds == {Build("ios", "", "15.1.2")}
    one = code(kind=OBJECT, undefined=["_stat", "_helper"], exports=["_run"], minimum="14.0")
    other = code(kind=OBJECT, undefined=["_malloc"], exports=["_helper"], minimum="15.0", extra=b"!")
    found = read_one(tmp_path, archive(one, b"a text", other))
    assert (found.kind, found.object_count) == ("static", 2)
    assert found.undefined == {"_stat", "_malloc"}
    assert found.exports == {"_run", "_helper"}
    assert {build.minimum_os for build in found.builds} == {"14.0", "15.0"}
    pieces = {"arm64": archive(code(kind=OBJECT)), "x86_64": code(architecture="x86_64")}
    (tmp_path / "library").write_bytes(fat(pieces))
    codes = read(tmp_path / "library")
    assert [(each.architecture, each.kind) for each in codes] == [("arm64", "static"), ("x86_64", "dynamic")]
    content = (tmp_path / "library").read_bytes()
    assert [content[each.start : each.start + each.size_bytes] for each in codes] == list(pieces.values())


@pytest.mark.parametrize(
    ("number", "platform", "variant"),
    [
        (1, "macos", ""),
        (2, "ios", ""),
        (6, "ios", "maccatalyst"),
        (7, "ios", "simulator"),
        (11, "xros", ""),
        (99, "", ""),
    ],
)
def test_platforms_have_the_names_of_info_plist(tmp_path: Path, number: int, platform: str, variant: str) -> None:
    assert read_one(tmp_path, code(platform=number)).builds == {Build(platform, variant, "15.1")}


@pytest.mark.parametrize(("architecture", "variant"), [("arm64", ""), ("x86_64", "simulator")])
def test_older_compilers_told_simulators_by_their_processor(tmp_path: Path, architecture: str, variant: str) -> None:
    content = code(architecture=architecture, platform=None, old_command=0x25, minimum="9.0")
    assert read_one(tmp_path, content).builds == {Build("ios", variant, "9.0")}


@pytest.mark.parametrize("architecture", ["arm64", "arm64e", "x86_64", "armv7"])
def test_processors_have_the_names_of_xcode(tmp_path: Path, architecture: str) -> None:
    found = read_one(tmp_path, code(architecture=architecture, sections=[section("__TEXT", "__text", b"1234")]))
    assert found.architecture == architecture
    assert found.undefined == set(cases.CALLS)


def test_selectors_are_found_in_symbols_and_in_the_table_of_names(tmp_path: Path) -> None:
    names = section("__TEXT", "__objc_methname", b"systemUptime\0init\0")
    found = read_one(tmp_path, code(undefined=["_objc_msgSend$path"], sections=[names]))
    assert found.undefined == {"_objc_msgSend$path", "_objc_msgSend$systemUptime", "_objc_msgSend$init"}


@pytest.mark.parametrize(
    ("type_", "value", "missing", "exported"),
    [(0x01, 0, True, False), (0x01, 8, False, True), (0x0E, 0, False, False), (0x2B, 0, False, False)],
    ids=["undefined", "common, for which the linker makes room", "local", "for debuggers"],
)
def test_symbols_are_missing_exported_or_local(
    tmp_path: Path, type_: int, value: int, missing: bool, exported: bool
) -> None:
    found = read_one(tmp_path, code(symbols=[("_stat", type_, value)], undefined=(), exports=()))
    assert ("_stat" in found.undefined, "_stat" in found.exports) == (missing, exported)


@pytest.mark.parametrize("name", ["__bitcode", "__bundle"])
def test_bitcode_is_found_beside_code(tmp_path: Path, name: str) -> None:
    assert read_one(tmp_path, code(sections=[section("__LLVM", name, b"\0")])).has_bitcode


def test_bitcode_is_found_in_the_place_of_code(tmp_path: Path) -> None:
    assert read_one(tmp_path, archive(code(kind=OBJECT), b"BC\xc0\xde\x35\x14")).has_bitcode


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "empty file"),
        (b"\x7fELF" + bytes(100), "no object"),
        (b"!<arch>\n" + b"x" * 60, "no archive member"),
        (b"!<thin>\n" + b"x" * 60, "only refers to its files"),
        (b"\xca\xfe\xba\xbe\0\0\0\x41", "65 architectures"),
        (b"\xca\xfe\xba\xbe\0\0\0\x01" + struct.pack(">5I", 0, 0, 28, 1000, 0), "it ends after"),
        (archive(code(kind=OBJECT), code(kind=OBJECT, architecture="x86_64")), "several architectures"),
        (archive(b"a text"), "no object"),
    ],
)
def test_what_is_no_machine_code_is_refused(tmp_path: Path, content: bytes, reason: str) -> None:
    with pytest.raises(ToolError, match=reason):
        read_one(tmp_path, content)


@pytest.mark.parametrize("missing", [1, 20, 60, 100])
def test_a_library_without_its_last_bytes_is_refused(tmp_path: Path, missing: int) -> None:
    with pytest.raises(ToolError, match="truncated"):
        read_one(tmp_path, code()[:-missing])


def test_bytes_that_are_cut_or_changed_are_refused_or_read(tmp_path: Path) -> None:
    whole = fat({"arm64": archive(code(kind=OBJECT, sections=[section("__TEXT", "__objc_methname", b"path\0")]))})
    refused = 0
    for length in range(0, len(whole) - 1, 7):
        (tmp_path / "library").write_bytes(whole[:length])
        try:
            read(tmp_path / "library")
        except ToolError:
            refused += 1
    assert refused == len(range(0, len(whole) - 1, 7))
    whole = archive(code(kind=OBJECT, sections=[section("__TEXT", "__objc_methname", b"path\0")]))
    refused = 0
    for place in range(0, len(whole), 3):
        for value in (0x00, 0xFF):
            (tmp_path / "library").write_bytes(whole[:place] + bytes([value]) + whole[place + 1 :])
            try:
                read(tmp_path / "library")
            except ToolError:
                refused += 1
    assert refused > 20
    # In an archive that would be the next object: another one's symbols.
    with pytest.raises(ToolError, match="truncated"):
        read_one(tmp_path, archive(code(kind=OBJECT)[:-8], code(kind=OBJECT)))


@pytest.mark.parametrize(
    ("place", "value", "reason"),
    [
        (20, 1 << 30, "its load commands are truncated"),
        (36, 1 << 16, "a load command is longer than their table"),
        (36, 4, "a load command is longer than their table"),
        (32 + 64, 1 << 20, "1048576 sections"),
    ],
)
def test_numbers_that_lead_astray_are_refused(tmp_path: Path, place: int, value: int, reason: str) -> None:
    whole = code(kind=OBJECT, platform=None, sections=[section("__TEXT", "__text", b"1234")])
    changed = whole[:place] + struct.pack("<I", value) + whole[place + 4 :]
    with pytest.raises(ToolError, match=reason):
        read_one(tmp_path, changed)
