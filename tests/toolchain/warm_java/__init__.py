"""Keeps Java programs of tests running: a run of Kotlin's compiler in a process that has compiled takes half the CPU.

Tests, and the builds that they start, put the command `runner` before each program of Java (`kotlin.JAVA_RUNNER`). The
processes end with the test run.
"""

import shlex
import shutil
import sys
from pathlib import Path

from packager.targets.android import kotlin
from tests.toolchain import jvm
from tests.toolchain.kept import keep, place

FOLDER = Path(__file__).parent
SOURCE = FOLDER / "Serve.kt"
ROOT = FOLDER.parents[2]


def runner(folder: Path) -> str:
    """The command that runs Java programs in processes with sockets in `folder`, as a shell reads it."""
    return shlex.join(map(str, (sys.executable, "-I", "-S", FOLDER / "run.py", folder, _classes(), ROOT)))


def make() -> None:
    """Compiles the program of the processes, unless it is kept."""

    def compile_it(folder: Path) -> None:
        jar = jvm.compile_kotlin([SOURCE])
        shutil.copyfile(jar, folder / "serve.jar")
        shutil.copyfile(kotlin.find_compiler().stdlib, folder / "stdlib.jar")

    keep(_classes(), compile_it)


def _classes() -> Path:
    return place("warm-java", SOURCE, kotlin.compiler_version())
