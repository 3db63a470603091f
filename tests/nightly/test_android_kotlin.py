"""Android: the generated Kotlin compiles without warnings, to the same bytes everywhere."""

from collections.abc import Callable
from pathlib import Path

import pytest

from packager.files.hashes import sha256_of
from packager.targets.kotlin import kotlin
from tests.cases.android_kotlin import golden_kotlin, golden_module, jar
from tests.toolchain import jvm, warm_java

__all__ = ["jar"]


def test_same_kotlin_gives_the_same_bytes_in_another_folder(
    jar: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And in a process of its own, as in every build but those of tests."""
    monkeypatch.setattr(kotlin.Compiler, "run", warm_java.ALONE)
    case = "image_classifier"
    reordered = dict(reversed(golden_kotlin(case).items()))
    again = kotlin.compile_kotlin(
        reordered, module_name=golden_module(case), work=tmp_path, libraries=[jvm.coroutines()]
    )
    assert sha256_of(kotlin.write_jar(tmp_path / "again.jar", [again])) == sha256_of(jar(case))
