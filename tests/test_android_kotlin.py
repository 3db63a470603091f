"""Android: the generated Kotlin compiles without warnings, to the same bytes everywhere."""

import shutil
import struct
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path, PurePosixPath

import pytest

from packager.core.errors import ToolError
from packager.files.hashes import sha256_of
from packager.files.installed import templates_folder
from packager.processes import downloads
from packager.targets.android import kotlin
from tests.archives import read_zip
from tests.golden.cases import CASES
from tests.toolchain.kept import kept

ROOT = PurePosixPath("src/main/kotlin")


def golden_kotlin(case: str) -> dict[str, str]:
    texts = CASES[case].texts()
    return {path.relative_to(ROOT).as_posix(): text for path, text in texts.items() if path.suffix == ".kt"}


def golden_module(case: str) -> str:
    return ".".join(Path(next(iter(golden_kotlin(case)))).parent.parts)


@pytest.fixture(scope="module")
def jars(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Case -> the compiled golden files, in a folder whose name is hard to quote."""
    return {case: compiled(case, tmp_path_factory.mktemp(f"Prüfung {case}")) for case in CASES}


def compiled(case: str, work: Path) -> Path:
    def make(folder: Path) -> None:
        jar = kotlin.compile_kotlin(golden_kotlin(case), module_name=golden_module(case), work=work)
        shutil.copy(jar, folder)

    stubs, pinned = templates_folder() / "android" / "stubs", downloads.pins()["android"]
    sources = str(sorted(golden_kotlin(case).items()))
    folder = kept("kotlin", make, sources, stubs, Path(kotlin.__file__), kotlin.compiler_version(), str(pinned))
    return folder / "classes.jar"


@pytest.mark.kotlin
@pytest.mark.parametrize("case", CASES)
def test_golden_kotlin_compiles_without_warnings(case: str, jars: dict[str, Path]) -> None:
    names = {str(name) for name in read_zip(jars[case])}
    assert {
        name.replace(".kt", ".class") for name in golden_kotlin(case) if not name.endswith(("Tensors.kt", "Values.kt"))
    } <= names
    assert not [name for name in names if name.startswith(("ai/", "android/"))]


@pytest.mark.kotlin
def test_same_kotlin_gives_the_same_bytes_in_another_folder(jars: dict[str, Path], tmp_path: Path) -> None:
    case = "image_classifier"
    reordered = dict(reversed(golden_kotlin(case).items()))
    again = kotlin.compile_kotlin(reordered, module_name=golden_module(case), work=tmp_path)
    assert sha256_of(again) == sha256_of(jars[case])


@pytest.mark.kotlin
@pytest.mark.parametrize(
    "text",
    [
        "val x: Int = 1\n",
        'public val x: Int = "text"\n',
        '@Deprecated("") public fun old(): Int = 1; public val x: Int = old()\n',
    ],
    ids=["no visibility", "error", "warning"],
)
def test_error_or_warning_is_told_in_the_compilers_words(text: str, tmp_path: Path) -> None:
    with pytest.raises(ToolError, match=r"Broken.kt:1:\d+: (error|warning)"):
        kotlin.compile_kotlin({"Broken.kt": text}, module_name="broken", work=tmp_path)


def test_missing_compiler_names_the_extra_that_brings_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "files", missing)
    with pytest.raises(ToolError) as caught:
        kotlin.find_compiler()
    assert caught.value.hint == "pip install 'mobpack[android]'"


@pytest.mark.kotlin
@pytest.mark.parametrize("case", CASES)
def test_classes_call_no_buffer_method_that_android_7_lacks(case: str, jars: dict[str, Path]) -> None:
    """FloatBuffer and others override these methods of Buffer since Android 9 only: the return type must be Buffer."""
    inherited = {"clear", "flip", "limit", "mark", "position", "reset", "rewind"}
    calls = {
        call
        for content in read_zip(jars[case]).values()
        if content[:4] == b"\xca\xfe\xba\xbe"
        for call in names_and_types(content)
    }
    assert ("clear", "()Ljava/nio/Buffer;") in calls
    assert not [
        call
        for call in calls
        if call[0] in inherited and call[1].endswith("Buffer;") and not call[1].endswith("java/nio/Buffer;")
    ]


def names_and_types(content: bytes) -> Iterator[tuple[str, str]]:
    """Name and descriptor of everything a class refers to (JVMS 4.4)."""
    sizes = {3: 4, 4: 4, 5: 8, 6: 8, 7: 2, 8: 2, 9: 4, 10: 4, 11: 4, 12: 4, 15: 3, 16: 2, 17: 4, 18: 4, 19: 2, 20: 2}
    texts: dict[int, str] = {}
    pairs = []
    at, index, count = 10, 1, struct.unpack_from(">H", content, 8)[0]
    while index < count:
        tag = content[at]
        if tag == 1:
            length = struct.unpack_from(">H", content, at + 1)[0]
            texts[index] = content[at + 3 : at + 3 + length].decode("utf-8", "replace")
            at += 3 + length
        else:
            if tag == 12:
                pairs.append(struct.unpack_from(">HH", content, at + 1))
            at += 1 + sizes[tag]
        index += 2 if tag in (5, 6) else 1
    return ((texts[name], texts[kind]) for name, kind in pairs)
