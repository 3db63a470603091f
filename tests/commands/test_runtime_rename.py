"""A renamed ONNX Runtime runs beside the original in one process, each with its own classes and libraries."""

import re
from pathlib import PurePosixPath

import pytest

from packager.core.errors import ConfigError, ToolError
from packager.runtimes import rename

NAME = "acme"


@pytest.mark.parametrize("name", ["acme", "a", "ocr2", "zz9"])
def test_every_name_that_native_code_exports_keeps_its_hash(name: str) -> None:
    word = rename.word(name)
    assert re.fullmatch(rf"{name}[a-z0-9]+", word)
    assert len(word) == len("onnxruntime")
    function = "Java_ai_onnxruntime_OrtSession_createSession__JJJ"
    assert gnu_hash(function.replace("onnxruntime", word)) == gnu_hash(function)


def test_names_follow_rules_of_java_and_r8() -> None:
    assert rename.word("ocr") != rename.word("view")
    rename.word.cache_clear()
    assert rename.word("acme") == "acmecs9fjme"
    rules = "-keep class ai.onnxruntime.OrtSession { *; }\n"
    assert rename.renamed_rules(rules, NAME) == "-keep class ai.acmecs9fjme.OrtSession { *; }\n"
    with pytest.raises(ToolError, match=r"libonnxruntime\.so: not a shared library"):
        rename.renamed_library(b"PK\3\4", "libonnxruntime.so", NAME)
    constants = b"\1\0\x0bonnxruntime \1\0\x1aLai/onnxruntime/OrtSession;"
    own, theirs = PurePosixPath("com/acme/Model.class"), PurePosixPath("ai/onnxruntime/OnnxRuntime.class")
    renamed = rename.renamed_classes({own: constants, theirs: constants}, NAME)
    assert renamed == {
        own: constants.replace(b"ai/onnxruntime", b"ai/acmecs9fjme"),
        PurePosixPath("ai/acmecs9fjme/OnnxRuntime.class"): constants.replace(b"onnxruntime", b"acmecs9fjme"),
    }


@pytest.mark.parametrize("name", ["", "Acme", "vision", "9a", "a-b"])
def test_a_name_that_cannot_be_part_of_a_java_package_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match="runtime name"):
        rename.word(name)


def gnu_hash(name: str) -> int:
    """As the linker and Android's loader compute it (bionic, linker_gnu_hash.h)."""
    value = 5381
    for letter in name.encode():
        value = (value * 33 + letter) % 2**32
    return value
