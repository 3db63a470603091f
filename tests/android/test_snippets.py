"""Code in README.md, the guides and the pages of the platforms compiles as it stands.

A part of a file becomes the body of a function, whose parameters are what the app has: a context, a picture, a model.
"""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from packager.targets.kotlin import kotlin
from tests.android.test_gradle_project import syntax_errors
from tests.cases.android_kotlin import ROOT as KOTLIN_ROOT
from tests.cases.snippets import Snippet, body, listed, snippets, split
from tests.cases.snippets_shared import BUILD_FILE, TOOLCHAIN
from tests.golden.cases import CASES
from tests.toolchain import jvm

KOTLIN_IMPORTS = """\
import android.content.Context
import android.graphics.Bitmap
import android.util.Log
import androidx.work.*
import com.example.vision.*
import java.util.concurrent.TimeUnit
"""

KOTLIN_GIVEN = {
    "context": "context: Context",
    "bitmap": "bitmap: Bitmap",
    "tag": "tag: Int",
    "pixels": "pixels: FloatArray",
    "analysis": "analysis: androidx.camera.core.ImageAnalysis",
    "executor": "executor: java.util.concurrent.Executor",
    "memory": "memory: java.nio.ByteBuffer",
    "model": "model: Classifier",
}


def on_android(name: str) -> dict[str, str]:
    """The Kotlin of a golden case as that of the package `vision`."""
    case = replace(CASES[name], package=replace(CASES[name].package, name="vision"))
    texts = {path: text for path, text in case.texts().items() if path.suffix == ".kt"}
    return {path.relative_to(KOTLIN_ROOT).as_posix(): text for path, text in texts.items()}


def in_kotlin(snippet: Snippet) -> str:
    imports, code = split(snippet.text, "import ")
    start = f'@file:Suppress("unused", "UNUSED_VARIABLE", "UNUSED_EXPRESSION")\n\npackage snippets.{snippet.name}\n\n'
    if re.search(r"^(suspend fun|fun|class) ", code, re.MULTILINE):
        return f"{start}{imports or KOTLIN_IMPORTS}\n{code}\n"
    parameters = listed(snippet.names(KOTLIN_GIVEN))
    return f"{start}{imports or KOTLIN_IMPORTS}\ninternal suspend fun use({parameters}) {{\n{body(code)}\n}}\n"


@pytest.mark.parametrize("case", ["image_classifier", "contracts", "delivered"])
def test_kotlin_compiles_without_a_warning(case: str, tmp_path: Path) -> None:
    found = [each for each in snippets("kotlin") if each.package == case and not BUILD_FILE.search(each.text)]
    assert found
    library = kotlin.compile_kotlin(
        on_android(case), module_name="vision", work=tmp_path / "library", libraries=[jvm.coroutines()]
    )
    texts = {f"{each.name}.kt": in_kotlin(each) for each in found} | kotlin.stubs()
    sources = [tmp_path / "app" / name for name in texts]
    for path, text in zip(sources, texts.values(), strict=True):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    stand_ins = [*(TOOLCHAIN / "camerax").rglob("*.java"), TOOLCHAIN / "background" / "WorkManager.kt"]
    assert jvm.compile_kotlin([*sources, *sorted(stand_ins)], classpath=[library]).is_file()


def test_build_files_are_kotlin(tmp_path: Path) -> None:
    found = [each.text for each in snippets("kotlin") if BUILD_FILE.search(each.text)]
    assert len(found) >= 5
    assert syntax_errors(found, tmp_path) == []
