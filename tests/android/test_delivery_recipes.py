"""Examples of docs and READMEs that bring newer models compile against a package with a channel.

WorkManager and Apple's BackgroundTasks are names alone, in `toolchain/background`.
"""

from pathlib import Path
from textwrap import indent

import pytest

from packager.core.errors import ToolError
from tests.cases.android_kotlin import compiled
from tests.cases.archives import read_zip
from tests.cases.delivery_recipes import STAND_INS, readme, section
from tests.golden.cases import CASES
from tests.toolchain import jvm

KOTLIN_IMPORTS = """\
import android.content.Context
import androidx.work.*
import com.example.vision.*
import java.util.concurrent.TimeUnit

"""

KOTLIN_USE = "suspend fun use(context: Context): UpdateState? {{\n{}\n}}\n"


@pytest.mark.usefixtures("kotlin_compiler")
@pytest.mark.parametrize(
    ("old", "new", "words"), [("", "", ""), ("UpdatePhase.FAILED", "UpdatePhase.BROKEN", "BROKEN")]
)
def test_recipes_for_android_compile(
    onnxruntime_android: jvm.AndroidRuntime, tmp_path: Path, old: str, new: str, words: str
) -> None:
    use, worker = section("android.md", "kotlin")
    lines = use.replace('updater.update()["classifier"]', 'return updater.update()["classifier"]')
    assert "return" in lines
    text = KOTLIN_IMPORTS + KOTLIN_USE.format(indent(lines.rstrip(), "    ")) + "\n" + worker
    assert old in text
    recipe, example = tmp_path / "Recipe.kt", tmp_path / "Example.kt"
    recipe.write_text(text.replace(old, new) if old else text, encoding="utf-8", newline="\n")
    texts = {path.as_posix(): each for path, each in CASES["delivered"].texts().items()}
    example.write_text(readme(texts, "kotlin"), encoding="utf-8", newline="\n")
    classes = compiled("delivered", tmp_path)
    sources, classpath = (
        [recipe, example, STAND_INS / "WorkManager.kt"],
        [classes, jvm.fakes(), onnxruntime_android.classes],
    )
    if words:
        with pytest.raises(ToolError, match=words):
            jvm.compile_kotlin(sources, classpath=classpath)
    else:
        made = {path.name for path in read_zip(jvm.compile_kotlin(sources, classpath=classpath))}
        assert {"UpdateWorker.class", "Models.class"} <= made
