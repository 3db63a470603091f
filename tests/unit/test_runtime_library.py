"""A user's own runtime is checked before a package ships it or depends on it."""

import struct
import zipfile
from io import BytesIO
from pathlib import Path, PurePosixPath

import pytest

from packager.core.errors import ConfigError, ToolError
from packager.files import elf
from packager.runtimes import library

CONFIG = 'ai.onnx;13;Softmax{"inputs": {"0": ["float"]}}\n'

CLASS = PurePosixPath("ai/onnxruntime/OrtSession.class")


def shared_library(*, soname: str = "", needed: str = "", machine: int = 183, page_bytes: int = 16384) -> bytes:
    """The smallest 64-bit shared library with a GNU hash table, its names and the version of its exports."""
    strings = b"\0" + f"{soname}\0{needed}\0".encode() + b"VERS_1.29.0\0"
    header, segment = 64, 56
    start = header + 2 * segment
    tags = [(1, 2 + len(soname)), (5, start), (0x6FFFFEF5, start)] + ([(14, 1)] if soname else []) + [(0, 0)]
    dynamic = b"".join(struct.pack("<QQ", *tag) for tag in tags)
    size = start + len(strings) + len(dynamic)
    ident = b"\x7fELF\x02\x01\x01" + bytes(9)
    fields = struct.pack("<HHIQQQIHHHHHH", 3, machine, 1, 0, header, 0, 0, header, segment, 2, 0, 0, 0)
    load = struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, size, size, page_bytes)
    at = start + len(strings)
    pointer = struct.pack("<IIQQQQQQ", 2, 6, at, at, at, len(dynamic), len(dynamic), 8)
    return ident + fields + load + pointer + strings + dynamic


def contents() -> dict[str, bytes]:
    jar = BytesIO()
    with zipfile.ZipFile(jar, "w") as archive:
        archive.writestr(str(CLASS), b"\x01\x00\x0bonnxruntime ai/onnxruntime/OrtException")
        archive.writestr("META-INF/MANIFEST.MF", "x")
    return {
        "classes.jar": jar.getvalue(),
        "proguard.txt": b"-keep class ai.onnxruntime.TensorInfo\n",
        "jni/arm64-v8a/libonnxruntime.so": shared_library(soname="libonnxruntime.so", needed="libc.so"),
        "jni/arm64-v8a/libonnxruntime4j_jni.so": shared_library(needed="libonnxruntime.so"),
    }


def write_aar(path: Path, entries: dict[str, bytes], *, config: str = CONFIG) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    if config:
        path.with_suffix(".config").write_text(config, encoding="utf-8")
    return path


def loaded(tmp_path: Path) -> library.OwnRuntime:
    runtime = library.load("ort.aar", tmp_path)
    assert isinstance(runtime, library.OwnRuntime)
    return runtime


def test_a_runtime_says_its_version_processors_and_operators(tmp_path: Path) -> None:
    write_aar(tmp_path / "ort.aar", contents())
    runtime = loaded(tmp_path)
    assert (runtime.version, runtime.abis, runtime.notes) == ("1.29.0", ("arm64-v8a",), ())
    assert runtime.config.operators == {"ai.onnx;13;Softmax"}


def test_the_configuration_may_lie_in_the_archive_or_be_named(tmp_path: Path) -> None:
    write_aar(tmp_path / "ort.aar", {**contents(), "META-INF/acme/ops.config": b"ai.onnx;13;Relu\n"}, config="")
    assert loaded(tmp_path).config.operators == {"ai.onnx;13;Relu"}
    (tmp_path / "required_operators_and_types.config").write_text("ai.onnx;13;Tanh\n", encoding="utf-8")
    assert loaded(tmp_path).config.operators == {"ai.onnx;13;Tanh"}
    (tmp_path / "given").write_text("ai.onnx;13;Cos\n", encoding="utf-8")
    named = library.load("ort.aar", tmp_path, config=tmp_path / "given")
    assert isinstance(named, library.OwnRuntime)
    assert named.config.operators == {"ai.onnx;13;Cos"}


def test_a_runtime_without_a_configuration_is_refused(tmp_path: Path) -> None:
    write_aar(tmp_path / "ort.aar", contents(), config="")
    with pytest.raises(ConfigError, match="the models that it runs are unknown") as caught:
        loaded(tmp_path)
    assert "ort.config" in caught.value.hint


def test_a_library_for_small_pages_is_noted(tmp_path: Path) -> None:
    old = shared_library(soname="libonnxruntime.so", page_bytes=4096)
    write_aar(tmp_path / "ort.aar", {**contents(), "jni/arm64-v8a/libonnxruntime.so": old})
    (note,) = loaded(tmp_path).notes
    assert note.startswith("ort.aar: jni/arm64-v8a/libonnxruntime.so is not laid out")


def test_coordinates_are_a_dependency_with_or_without_a_configuration(tmp_path: Path) -> None:
    (tmp_path / "ops.config").write_text(CONFIG, encoding="utf-8")
    runtime = library.load("com.acme:onnxruntime:1.29.0-0123456789ab", tmp_path, config=tmp_path / "ops.config")
    assert isinstance(runtime, library.PublishedRuntime)
    assert runtime.config
    assert library.load("com.acme:onnxruntime:1", tmp_path) == library.PublishedRuntime(
        coordinates="com.acme:onnxruntime:1", config=None
    )


def test_a_package_ships_libraries_classes_and_rules_and_nothing_that_clashes(tmp_path: Path) -> None:
    write_aar(tmp_path / "ort.aar", contents())
    files = library.files(loaded(tmp_path))
    assert {str(path) for path in files.libraries} == {name for name in contents() if name.startswith("jni/")}
    assert set(files.classes) == {CLASS}
    assert files.rules == "-keep class ai.onnxruntime.TensorInfo\n"


def test_a_renamed_runtime_has_no_file_class_or_rule_of_the_original_name(tmp_path: Path) -> None:
    write_aar(tmp_path / "ort.aar", contents())
    files = library.files(loaded(tmp_path), "acme")
    assert [path.name for path in sorted(files.libraries)] == ["libacmecs9fjme.so", "libacmecs9fjme4j_jni.so"]
    first, second = (elf.read(files.libraries[path], path.name) for path in sorted(files.libraries))
    assert (first.soname, second.needed) == ("libacmecs9fjme.so", ("libacmecs9fjme.so",))
    assert set(files.classes) == {PurePosixPath("ai/acmecs9fjme/OrtSession.class")}
    assert b"onnxruntime" not in b"".join([*files.classes.values(), *files.libraries.values()])
    assert files.rules == "-keep class ai.acmecs9fjme.TensorInfo\n"


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"classes.jar": None}, r"no classes\.jar"),
        ({"classes.jar": b"PK"}, r"classes\.jar is damaged"),
        ({"jni/arm64-v8a/libonnxruntime4j_jni.so": None}, r"no jni/arm64-v8a/libonnxruntime4j_jni\.so"),
        ({"jni/arm64-v8a/libonnxruntime.so": b"\x7fELF"}, r"libonnxruntime\.so: not a shared library"),
        ({"jni/arm64-v8a/libonnxruntime.so": shared_library()[:-20]}, r"libonnxruntime\.so: not a shared library"),
        ({"jni/arm64-v8a/libonnxruntime.so": shared_library(machine=62)}, r"libonnxruntime\.so is for x86_64"),
    ],
)
def test_what_is_no_runtime_is_refused(tmp_path: Path, changed: dict[str, bytes | None], message: str) -> None:
    entries = {name: content for name, content in {**contents(), **changed}.items() if content is not None}
    write_aar(tmp_path / "ort.aar", entries)
    with pytest.raises(ToolError, match=message):
        loaded(tmp_path)


def test_a_file_that_is_missing_cut_short_or_damaged_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no such file"):
        loaded(tmp_path)
    whole = write_aar(tmp_path / "ort.aar", contents()).read_bytes()
    (tmp_path / "ort.aar").write_bytes(whole[:-10])
    with pytest.raises(ToolError, match="truncated"):
        loaded(tmp_path)
    at = whole.index(b"VERS_")
    (tmp_path / "ort.aar").write_bytes(whole[:at] + b"vers" + whole[at + 4 :])
    with pytest.raises(ToolError, match="is damaged"):
        loaded(tmp_path)
