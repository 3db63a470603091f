"""Examples of docs and READMEs that bring newer models compile against a package with a channel.

WorkManager and Apple's BackgroundTasks are names alone, in `toolchain/background`.
"""

from pathlib import Path
from textwrap import indent

import pytest

from tests.cases.delivery_recipes import modules, package, readme, section
from tests.golden.cases import IOS_CASES
from tests.swift.test_sample_ios import headers
from tests.toolchain import apple

__all__ = ["modules", "package"]


SWIFT_IMPORTS = "import BackgroundTasks\nimport Foundation\nimport VisionModels\n\n"

SWIFT_USE = """\
func use() async throws {{
{}
    model.close()
}}

"""


@pytest.mark.parametrize(
    ("old", "new", "words"), [("", "", ""), ("updater.update()", "updater.refresh()", "has no member 'refresh'")]
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
        "Recipes", [recipe, example], tmp_path, c_modules=headers(package), modules=modules, defines=()
    )
    assert (done.returncode == 0, done.output == "") == (words == "", words == ""), done.output
    assert words in done.output
