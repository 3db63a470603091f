"""What the README shows works as it stands there."""

import re
from pathlib import Path

import pytest

from packager.cli import commands
from packager.targets.android import kotlin
from tests.golden.cases import GOLDEN
from tests.toolchain import apple
from tests.toolchain.swift_packages import golden_package

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
GENERATED = GOLDEN / "image_classifier" / "android" / "src" / "main" / "kotlin"


@pytest.mark.kotlin
def test_the_kotlin_of_the_readme_compiles_without_warnings(tmp_path: Path) -> None:
    found = re.search(r"```kotlin\n(.*?)```", README, re.DOTALL)
    assert found
    sources = {path.relative_to(GENERATED).as_posix(): path.read_text() for path in GENERATED.rglob("*.kt")}
    sources["app/App.kt"] = (
        "package app\n\nimport android.content.Context\nimport com.example.vision.Classifier\n\n"
        f"internal fun show(context: Context, pixels: FloatArray) {{\n{found.group(1)}}}\n"
    )
    assert kotlin.compile_kotlin(sources, module_name="readme", work=tmp_path).is_file()


@pytest.mark.swift
def test_the_swift_of_the_readme_compiles_without_warnings(tmp_path: Path) -> None:
    found = re.search(r"```swift\n(.*?)```", README, re.DOTALL)
    assert found
    app = tmp_path / "App.swift"
    app.write_text(f"func show(_ pixels: [Float]) async throws {{\n{found.group(1)}}}\n", encoding="utf-8")
    sources = golden_package("image_classifier", tmp_path) / "Sources"
    done = apple.compile_swift(
        "VisionModels",
        [app, *sorted((sources / "VisionModels").glob("*.swift"))],
        tmp_path,
        c_modules={"CVisionModels": sources / "CVisionModels" / "include"},
    )
    assert (done.returncode, done.output) == (0, "")


def test_commands_and_options_of_the_readme_exist() -> None:
    for line in re.findall(r"^    mobpack (\w+)", README, re.MULTILINE):
        assert line in commands.commands
    every = (commands, *commands.commands.values())
    options = {option for command in every for each in command.params for option in each.opts}
    assert set(re.findall(r"`(--[a-z-]+)", README)) <= options


def test_files_that_the_readme_points_to_exist() -> None:
    targets = [target for target in re.findall(r"\]\(([^)]+)\)", README) if "://" not in target]
    scripts = re.findall(r"^    sh (\S+)", README, re.MULTILINE)
    assert targets
    assert scripts == ["scripts/quickstart", "scripts/test"]
    assert [target for target in (*targets, *scripts) if not (ROOT / target).exists()] == []
