"""The golden Kotlin of a package, compiled once for the tests that run it."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path, PurePosixPath

import pytest

from packager.files.installed import templates_folder
from packager.files.processes import downloads
from packager.targets.kotlin import kotlin
from tests.golden.cases import CASES, LISTS
from tests.toolchain import jvm
from tests.toolchain.kept import kept

ROOT = PurePosixPath("src/main/kotlin")

COMPILED = {**CASES, "lists": replace(CASES["contracts"], plans=LISTS, golden={})}


def golden_kotlin(case: str) -> dict[str, str]:
    texts = COMPILED[case].texts()
    return {path.relative_to(ROOT).as_posix(): text for path, text in texts.items() if path.suffix == ".kt"}


def golden_module(case: str) -> str:
    return ".".join(Path(next(iter(golden_kotlin(case)))).parent.parts)


@pytest.fixture(scope="module")
def jar(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Gives the compiled golden files of a case, from a folder whose name is hard to quote."""
    return cache(lambda case: compiled(case, tmp_path_factory.mktemp(f"Prüfung {case}")))


def compiled(case: str, work: Path) -> Path:
    def make(folder: Path) -> None:
        classes = kotlin.compile_kotlin(
            golden_kotlin(case), module_name=golden_module(case), work=work, libraries=[jvm.coroutines()]
        )
        kotlin.write_jar(folder / "classes.jar", [classes])

    stubs, pinned = templates_folder() / "android" / "stubs", downloads.pins()["android"]
    sources = str(sorted(golden_kotlin(case).items()))
    folder = kept("kotlin", make, sources, stubs, Path(kotlin.__file__), kotlin.compiler_version(), str(pinned))
    return folder / "classes.jar"
