"""Renames an ONNX Runtime for Android, so that an app can contain two of them.

An app has one file of each name in lib/<abi>/ and one class of each name, so two SDKs that both include ONNX Runtime
clash twice. The renamed copy avoids both: `onnxruntime` is replaced by a word of the same length in the file names, in
the Java package `ai.onnxruntime`, in the names of the JNI functions and in the strings with which native code finds
classes. Since lengths stay equal, nothing moves in any file.

JNI functions are found through a hash table over their names (DT_GNU_HASH). The word is chosen so that every name keeps
its hash (h = 33 h + c, modulo 2^32), and the table stays valid.
"""

import itertools
import re
import string
from collections.abc import Mapping
from functools import cache
from pathlib import PurePosixPath

from packager.core.errors import ConfigError, ToolError
from packager.files import elf

ORIGINAL = "onnxruntime"
LETTERS = string.ascii_lowercase + string.digits
NAME = re.compile(r"[a-z][a-z0-9]{0,3}")
TAIL = 3
"""letters of a word that are looked up instead of tried"""


@cache
def word(name: str) -> str:
    """The word for `name` that replaces `onnxruntime`: it starts with the name and has the same hash.

    The same name always gives the same word. Raises ConfigError for a name that is not one to four letters or digits.
    """
    if not NAME.fullmatch(name):
        raise ConfigError(
            f"runtime name '{name}' is not allowed",
            hint="use one to four lower-case letters or digits, starting with a letter: acme",
        )
    missing = len(ORIGINAL) - len(name)
    tails = {_hash("".join(tail)): "".join(tail) for tail in itertools.product(LETTERS, repeat=TAIL)}
    # Four letters are enough to try, and quick; a shorter name is padded first.
    start = name + "x" * (missing - 4 - TAIL)
    for middle in itertools.product(LETTERS, repeat=4):
        head = start + "".join(middle)
        wanted = (_hash(ORIGINAL) - _hash(head) * 33**TAIL) % 2**32
        if wanted in tails:
            return head + tails[wanted]
    raise ConfigError(
        f"runtime name '{name}' has no word with the same hash as '{ORIGINAL}'", hint="choose another name"
    )


def _hash(text: str) -> int:
    """Contribution of `text` to the hash of a name that contains it."""
    value = 0
    for letter in text.encode():
        value = value * 33 + letter
    return value % 2**32


def java_package(name: str) -> str:
    """`acme` -> the Java package that replaces `ai.onnxruntime`."""
    return f"ai.{word(name)}"


def renamed_classes(classes: Mapping[PurePosixPath, bytes], name: str) -> dict[PurePosixPath, bytes]:
    """The files of a jar with `ai.onnxruntime` renamed in class names and references.

    Applies to ONNX Runtime's classes, and to those of a package that was compiled against them.
    """
    new = word(name)
    renamed = {}
    for path, content in classes.items():
        if path.suffix == ".class":
            content = _renamed_class(content, new, is_onnxruntimes=path.parts[:2] == ("ai", ORIGINAL))
        renamed[PurePosixPath(str(path).replace(f"ai/{ORIGINAL}", f"ai/{new}"))] = content
    return renamed


def renamed_rules(text: str, name: str) -> str:
    """R8 rules (proguard.txt) with the renamed package."""
    return text.replace(f"ai.{ORIGINAL}", java_package(name))


def renamed_library(content: bytes, file_name: str, name: str) -> tuple[str, bytes]:
    """File name and content of the renamed copy of `libonnxruntime.so` or `libonnxruntime4j_jni.so`.

    Raises ToolError if the library has no hash table that survives renaming.
    """
    new = word(name)
    if not elf.read(content, file_name).has_gnu_hash:
        raise ToolError(
            f"{file_name} cannot be renamed: it has no GNU hash table",
            hint="build it for API 24 or later, whose linker flags add one",
        )
    renamed = content
    for text in (f"ai/{ORIGINAL}", f"Java_ai_{ORIGINAL}", f"lib{ORIGINAL}.so\0", f"lib{ORIGINAL}4j_jni.so\0"):
        renamed = renamed.replace(text.encode(), text.replace(ORIGINAL, new).encode())
    facts = elf.read(renamed, file_name)
    left = [library for library in (facts.soname, *facts.needed) if library.startswith(f"lib{ORIGINAL}")]
    if left:
        raise ToolError(f"{file_name} cannot be renamed: it still refers to {left[0]}", hint="report this as a bug")
    return file_name.replace(ORIGINAL, new), renamed


def _renamed_class(content: bytes, new: str, *, is_onnxruntimes: bool) -> bytes:
    """Class names are strings in a class file's constants; in ONNX Runtime's own, so are the names of the libraries
    that it loads."""
    for separator in "/.":
        content = content.replace(f"ai{separator}{ORIGINAL}".encode(), f"ai{separator}{new}".encode())
    for library in (ORIGINAL, f"{ORIGINAL}4j_jni") if is_onnxruntimes else ():
        constant = b"\x01" + len(library).to_bytes(2, "big")  # CONSTANT_Utf8 of exactly this text (JVMS 4.4.7)
        content = content.replace(constant + library.encode(), constant + library.replace(ORIGINAL, new).encode())
    return content
