"""Examples of newer models in docs and READMEs, and the packages that they compile against."""

import re
from pathlib import Path
from textwrap import dedent

import pytest

from tests.swift.test_sample_ios import compile_modules
from tests.toolchain import apple
from tests.toolchain.swift import swift
from tests.toolchain.swift_golden import golden_package

ROOT = Path(__file__).parents[2]

STAND_INS = Path(__file__).parents[1] / "toolchain" / "background"


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
