"""Programs of Kotlin and Java that use a built jar, on ONNX Runtime's Java package as published, without Android."""

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from packager.core.findings import Report
from packager.core.values import Package, Plan
from packager.files.store import Store
from packager.files.user_cache import cache_folder
from packager.files.zips import unpack
from packager.targets.jvm import Jvm
from packager.targets.kotlin import kotlin
from tests.toolchain import jvm, typed_models
from tests.toolchain.kept import kept
from tests.toolchain.require import fetched

APPS = Path(__file__).with_name("jvm_apps")
RUNTIME = Path("java-runtime")
"""folder of Java in its wheel, below the top one"""
NATIVE = "--enable-native-access=ALL-UNNAMED"
"""Java 24 and later warn of programs that load libraries without it."""


@dataclass(frozen=True, kw_only=True)
class Built:
    """A jar, and folders of a program that uses it."""

    jar: Path
    dist: Path
    files: Path
    data: Path

    def facts(self, program: str, *apps: Path, java: Path | None = None, **values: object) -> Mapping[str, str]:
        given = {"data": self.data, "files": self.files, **values}
        return run(f"apps.{program}Kt", given, self.jar, compiled(self.jar, *apps), java=java).facts


def built(folder: Path, report: Report) -> Built:
    """The jar of the models of `typed_models`."""
    package = Package(name="models", version="1.0.0", license="MIT", pipelines=(typed_models.SCANNER,))
    return built_of(package, typed_models.plans(folder, Store(cache_folder() / "store")), report, folder)


def built_of(package: Package, plans: tuple[Plan, ...], report: Report, folder: Path) -> Built:
    target = Jvm()
    view = target.view(package, plans, report)
    artifacts = target.assemble(view, target.render(view), Store(cache_folder() / "store"))
    target.layout(view, artifacts, folder / "dist")
    (folder / "files").mkdir()
    return Built(jar=artifacts[0].path, dist=folder / "dist", files=folder / "files", data=folder / "data")


@cache
def oldest_java() -> Path:
    """Java 11."""
    wheel = fetched("java-11")

    def make(folder: Path) -> None:
        unpack(wheel, folder)
        for program in (folder / RUNTIME).glob("*/*"):
            program.chmod(0o755)

    return kept("oldest-java", make, wheel) / RUNTIME / "bin" / "java"


def onnxruntime() -> Path:
    """ONNX Runtime's jar: Java takes a file for one whatever its name."""
    return fetched("onnxruntime-java-1-29")


def compiled(jar: Path, *sources: Path) -> Path:
    """`sources` with what all programs share, compiled against `jar`."""
    return jvm.compile_kotlin(sorted({APPS / "Task.kt", APPS / "Report.kt", *sources}), classpath=[jar])


def classpath(*own: Path) -> list[Path]:
    return [*own, onnxruntime(), jvm.coroutines(), kotlin.find_compiler().stdlib]


def command(main_class: str, *own: Path, java: Path | None = None, flags: Sequence[str] = ()) -> list[str]:
    """The command that runs `main_class` with the jars `own` before ONNX Runtime's and Kotlin's."""
    program = [java] if java else [kotlin.find_compiler().java, NATIVE]
    return [*map(str, program), *flags, "-cp", os.pathsep.join(map(str, classpath(*own))), main_class]


def run(main_class: str, values: Mapping[str, object], *own: Path, java: Path | None = None) -> jvm.Run:
    """Runs a program that prints facts; raises AssertionError if it fails."""
    done = subprocess.run(
        [*command(main_class, *own, java=java), *jvm.words(values)],
        capture_output=True,
        text=True,
        check=False,
        timeout=jvm.RUN_TIMEOUT_S,
    )
    return jvm.ended(main_class, done.returncode, done.stdout, done.stderr)
