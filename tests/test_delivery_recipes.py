"""Examples of docs and READMEs that bring newer models compile against a package with a channel.

WorkManager and Apple's BackgroundTasks are names alone, in `toolchain/background`.
"""

import json
import re
from pathlib import Path
from textwrap import dedent, indent

import pytest

from packager.core.errors import ToolError
from packager.render.templates import write_sources
from tests.archives import read_zip
from tests.golden.cases import CASES, IOS_CASES, REACT_NATIVE_CASES, WEB_CASES
from tests.test_android_kotlin import compiled
from tests.test_sample_ios import compile_modules, headers
from tests.toolchain import apple, jvm, node
from tests.toolchain.swift import swift
from tests.toolchain.swift_golden import golden_package

pytestmark = pytest.mark.by_content("docs/android.md", "docs/ios.md", recorded=True)

ROOT = Path(__file__).parents[1]
STAND_INS = Path(__file__).with_name("toolchain") / "background"
KOTLIN_IMPORTS = """\
import android.content.Context
import androidx.work.*
import com.example.vision.*
import java.util.concurrent.TimeUnit

"""
KOTLIN_USE = "suspend fun use(context: Context): UpdateState? {{\n{}\n}}\n"
SWIFT_IMPORTS = "import BackgroundTasks\nimport Foundation\nimport VisionModels\n\n"
SWIFT_USE = """\
func use() async throws {{
{}
    model.close()
}}

"""


def blocks(text: str, language: str) -> list[str]:
    """The examples in a language, without what indents them."""
    fence = rf"^( *)```{language}\n(.*?)^\1```$"
    return [dedent(code) for _, code in re.findall(fence, text, re.MULTILINE | re.DOTALL)]


def section(page: str, language: str) -> list[str]:
    """The examples of the page's section on newer models."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    _, _, after = text.partition("\n## Models that move\n")
    return blocks(after.partition("\n## ")[0], language)


def readme(texts: dict[str, str], language: str) -> str:
    """The example of a README that names the updater."""
    [found] = [code for code in blocks(texts["README.md"], language) if "ModelUpdater" in code]
    return found


@pytest.mark.kotlin
@pytest.mark.android
@pytest.mark.usefixtures("kotlin_compiler")
@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("", "", ""),
        ("UpdatePhase.FAILED", "UpdatePhase.BROKEN", "BROKEN"),
        ("setRequiresCharging", "setCharging", "setCharging"),
    ],
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


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A Swift package with a channel, by its module."""
    swift()
    return {"VisionModels": golden_package("delivered", tmp_path_factory.mktemp("package"))}


@pytest.fixture(scope="module")
def modules(package: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Folders with the modules that an app imports, compiled for iOS."""
    background = tmp_path_factory.mktemp("background")
    done = apple.compile_swift("BackgroundTasks", [STAND_INS / "BackgroundTasks.swift"], background, defines=())
    assert (done.returncode, done.output) == (0, "")
    return [*compile_modules(package, tmp_path_factory), background]


@pytest.mark.swift
@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("", "", ""),
        ("updater.update()", "updater.refresh()", "has no member 'refresh'"),
        ("updater.states", "updater.phases", "has no member 'phases'"),
        ("requiresExternalPower", "needsPower", "has no member 'needsPower'"),
    ],
)
def test_recipes_for_ios_compile(
    package: dict[str, Path], modules: list[Path], tmp_path: Path, old: str, new: str, words: str
) -> None:
    use, task = section("ios.md", "swift")
    text = SWIFT_IMPORTS + SWIFT_USE.format(indent(use.rstrip(), "    ")) + task
    assert old in text
    recipe, example = tmp_path / "Recipe.swift", tmp_path / "Example.swift"
    recipe.write_text(text.replace(old, new) if old else text, encoding="utf-8", newline="\n")
    texts = {path.as_posix(): each for path, each in IOS_CASES["delivered"].texts().items()}
    example.write_text(readme(texts, "swift"), encoding="utf-8", newline="\n")
    done = apple.compile_swift(
        "Recipes",
        [recipe, example],
        tmp_path,
        c_modules=headers(package),
        modules=modules,
        defines=(),
    )
    assert (done.returncode == 0, done.output == "") == (words == "", words == ""), done.output
    assert words in done.output


@pytest.mark.react_native
@pytest.mark.parametrize(("old", "words"), [("", ""), ("updater.update()", "Property 'refresh' does not exist")])
@pytest.mark.parametrize("name", ["react-native-vision", "vision-web"])
def test_examples_of_npm_packages_compile(tmp_path: Path, name: str, old: str, words: str) -> None:
    case = WEB_CASES["delivered"] if name == "vision-web" else REACT_NATIVE_CASES["delivered"]
    modules = node.link(node.project("react_native"), tmp_path / "app")
    write_sources(case.sources(), modules / name)
    example = readme({path.as_posix(): text for path, text in case.sources().texts.items()}, "ts")
    assert old in example
    changed = example.replace(old, "updater.refresh()") if old else example
    (tmp_path / "app" / "example.ts").write_text(changed, encoding="utf-8", newline="\n")
    options = {
        "strict": True,
        "noEmit": True,
        "skipLibCheck": True,
        "target": "es2022",
        "lib": ["es2022", "dom"],
        "types": [],
        "module": "esnext",
        "moduleResolution": "bundler",
    }
    text = json.dumps({"compilerOptions": options, "include": ["example.ts"]})
    (tmp_path / "app" / "tsconfig.json").write_text(text, encoding="utf-8", newline="\n")
    done = node.run([node.tool(node.project("react_native"), "tsc"), "-p", "."], cwd=tmp_path / "app")
    assert (done.returncode == 0) == (words == ""), done.output
    assert words in done.output
