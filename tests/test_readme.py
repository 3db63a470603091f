"""The examples of the README and of the pages of the two libraries work as they stand."""

import re
from pathlib import Path

import pytest

from packager.cli import commands
from packager.targets.android import kotlin
from tests.test_android_kotlin import golden_kotlin
from tests.toolchain import apple, jvm
from tests.toolchain.swift_golden import golden_package

pytestmark = pytest.mark.by_content("README.md", "docs", "scripts")

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def shown(page: str, language: str, use: str) -> str:
    """The block of `page` that contains `use`."""
    blocks = re.findall(rf"```{language}\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), re.DOTALL)
    [found] = [block for block in blocks if use in block]
    return str(found)


@pytest.mark.kotlin
def test_the_kotlin_of_both_pages_compiles_without_warnings(tmp_path: Path) -> None:
    sources = golden_kotlin("image_classifier")
    for number, page in enumerate(("README.md", "docs/android.md")):
        sources[f"app/{Path(page).stem}.kt"] = (
            f"package app{number}\n\nimport android.content.Context\nimport com.example.vision.Classifier\n\n"
            "internal suspend fun show(context: Context, pixels: FloatArray) {\n"
            f"{shown(page, 'kotlin', 'Input.allocate(batch')}}}\n"
        )
    assert kotlin.compile_kotlin(sources, module_name="readme", work=tmp_path, libraries=[jvm.coroutines()]).is_dir()


@pytest.mark.swift
def test_the_swift_of_both_pages_compiles_without_warnings(tmp_path: Path) -> None:
    apps = []
    for page in ("README.md", "docs/ios.md"):
        name = Path(page).stem
        apps.append(tmp_path / f"{name}.swift")
        code = shown(page, "swift", "Classifier.Input(batch")
        lines = f"func show{name}(_ pixels: [Float]) async throws {{\n{code}}}\n"
        apps[-1].write_text(lines, encoding="utf-8", newline="\n")
    sources = golden_package("image_classifier", tmp_path) / "Sources"
    done = apple.compile_swift(
        "VisionModels",
        [*apps, *sorted((sources / "VisionModels").glob("*.swift"))],
        tmp_path,
        c_modules={"CVisionModels": sources / "CVisionModels" / "include"},
        is_checked_alone=True,
    )
    assert (done.returncode, done.output) == (0, "")


@pytest.mark.parametrize("page", ["README.md", "docs/build.md", "docs/check.md", "docs/diff.md"])
def test_commands_and_options_of_a_page_exist(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    for line in re.findall(r"^    mobpack (\w+)", text, re.MULTILINE):
        assert line in commands.commands
    every = (commands, *commands.commands.values())
    options = {option for command in every for each in command.params for option in each.opts}
    assert set(re.findall(r"`(--[a-z-]+)", text)) <= options


def test_files_that_the_readme_points_to_exist() -> None:
    targets = [found.partition("#")[0] for found in re.findall(r"\]\(([^)]+)\)", README) if "://" not in found]
    scripts = re.findall(r"^    sh (\S+)", README, re.MULTILINE)
    assert targets
    assert scripts == ["scripts/quickstart", "scripts/test"]
    assert [target for target in (*targets, *scripts) if not (ROOT / target).exists()] == []
