"""Checks of files at load: the same words, options and blocks in Kotlin, Swift and TypeScript."""

import hashlib
import re
from pathlib import Path

import pytest

from packager.files.installed import templates_folder
from packager.targets.ends import BLOCK_BYTES, ends_sha256

OPTION = "How the files of a model are checked when it is loaded"
ONCE = (
    "The whole file by its SHA-256 once after it was installed, updated or replaced; its size and its first and last "
    "64 KiB at every load."
)
ALWAYS = (
    "The whole file by its SHA-256 at every load. Only this finds changes within a file that no program has "
    "written to, as on failing storage."
)
LANGUAGES = {
    "Kotlin": ("android/kotlin/Options.kt.j2", r"val verify: Verify = Verify\.ONCE,", ("ONCE,", "ALWAYS,")),
    "Swift": ("ios/swift/Options.swift.j2", r"verify: Verify = \.once,\n", ("case once\n", "case always\n")),
}
TYPESCRIPT = templates_folder() / "typescript" / "src" / "runtime"
BLOCKS = {
    "android/kotlin/Checked.kt.j2": r"const val BLOCK_BYTES = (\d+) \* (\d+)",
    "ios/swift/Checksum.swift.j2": r"static let blockBytes = (\d+) \* (\d+)",
    "react_native/cpp/Checked.cpp.j2": r"constexpr std::size_t blockBytes = (\d+) \* (\d+);",
}
"""template -> its line with the size of a block"""


def prose(code: str) -> str:
    """The text without comment signs and line breaks."""
    return " ".join(re.sub(r"^\s*(?:///|/\*\*|\*/|\*|//)? ?", "", code, flags=re.MULTILINE).split())


def text(template: str) -> str:
    return (templates_folder() / template).read_text(encoding="utf-8")


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_option_has_the_same_name_default_and_words(language: str) -> None:
    template, default, (once, always) = LANGUAGES[language]
    code = text(template)
    assert re.search(default, code)
    assert prose(code).count(f"{OPTION}.") == 2, "the option's and the type's"
    for words, name in ((ONCE, once), (ALWAYS, always)):
        assert re.search(re.escape(words) + r"(?: \*/)? " + re.escape(name.strip()), prose(code)), name


def test_the_option_is_the_same_in_every_language_and_page() -> None:
    options = (TYPESCRIPT / "options.ts").read_text(encoding="utf-8")
    backend = prose((TYPESCRIPT / "backend.ts").read_text(encoding="utf-8"))
    assert f"{OPTION}; `'once'` by default." in prose(options)
    assert "readonly verify?: Verify;" in options
    assert f"{OPTION}. - `once`: t{ONCE[1:]} - `always`: t{ALWAYS[1:]}" in backend
    assert "export type Verify = 'once' | 'always';" in backend
    docs = Path(__file__).parents[2] / "docs"
    words = prose((docs / "on-device.md").read_text(encoding="utf-8"))
    assert "At every load, its size and its first and last 64 KiB are compared with what the build wrote" in words
    assert "finds changes within a file that no program has written to, as on failing storage" in words
    for page in ("android", "ios", "react-native"):
        assert "(on-device.md#what-is-checked-at-load)" in (docs / f"{page}.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("template", BLOCKS)
def test_blocks_are_as_large_as_the_build_takes_them(template: str) -> None:
    found = re.search(BLOCKS[template], text(template))
    assert found
    assert int(found[1]) * int(found[2]) == BLOCK_BYTES == 64 * 1024


@pytest.mark.parametrize("size", [0, 1, BLOCK_BYTES, BLOCK_BYTES + 1, 2 * BLOCK_BYTES, 2 * BLOCK_BYTES + 1, 500_000])
def test_the_ends_of_a_file_are_its_first_and_last_block_each_byte_once(size: int, tmp_path: Path) -> None:
    content = bytes(index * 7 % 251 for index in range(size))
    (tmp_path / "file").write_bytes(content)
    ends = content if size <= 2 * BLOCK_BYTES else content[:BLOCK_BYTES] + content[-BLOCK_BYTES:]
    assert ends_sha256(tmp_path / "file") == hashlib.sha256(ends).hexdigest()
