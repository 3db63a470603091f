"""Keeps Java programs of tests running: a run of Kotlin's compiler in a process that has compiled takes half the CPU.

Tests replace `kotlin.Compiler.run`, which makes the command of each program of Java, by one of `kept_in`; programs that
tests start run Java as users do. The processes end with the test run.
"""

import shutil
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from packager.targets.kotlin import kotlin
from tests.toolchain import jvm
from tests.toolchain.kept import keep, place

FOLDER = Path(__file__).parent
SOURCE = FOLDER / "Serve.kt"
ROOT = FOLDER.parents[2]


PLACE = "MOBPACK_TESTS_JAVA"
"""Variable with the folder of the processes, which the workers of a test run share."""
ALONE = kotlin.Compiler.run
"""`kotlin.Compiler.run` as users have it: each program in a process of its own."""


def kept_in(folder: Path) -> Callable[..., list[str]]:
    """`kotlin.Compiler.run` with processes that have their sockets in `folder`."""

    def run(
        self: kotlin.Compiler, classpath: Iterable[Path], main_class: str, *, flags: Sequence[str] = kotlin.JAVA_FLAGS
    ) -> list[str]:
        before = (sys.executable, "-I", "-S", FOLDER / "run.py", folder, _classes(), ROOT)
        return [*map(str, before), *ALONE(self, classpath, main_class, flags=flags)]

    return run


def make() -> None:
    """Compiles the program of the processes, unless it is kept."""

    def compile_it(folder: Path) -> None:
        jar = jvm.compile_kotlin([SOURCE])
        shutil.copyfile(jar, folder / "serve.jar")
        shutil.copyfile(kotlin.find_compiler().stdlib, folder / "stdlib.jar")

    keep(_classes(), compile_it)


def _classes() -> Path:
    return place("warm-java", SOURCE, kotlin.compiler_version())
