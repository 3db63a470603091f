"""Runs a package's build.gradle with Gradle's Groovy but without Gradle, and records its calls."""

import os
import tarfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from packager.core.errors import ToolError
from packager.files.atomic import install_once
from packager.files.processes import commands, downloads
from packager.files.user_cache import cache_folder
from packager.targets.kotlin import kotlin
from tests.toolchain import jvm

DRIVER = Path(__file__).with_name("groovy_driver")
FAILED = "failed"
"""in place of a call: the words of a failure"""
JAR = "package/lib/java/groovy/lib/groovy-4.0.26.jar"


@dataclass(frozen=True)
class Evaluated:
    """A build file that ran."""

    calls: list[tuple[str, str]]
    """in their order, such as `("android.defaultConfig.minSdk", "24")`"""
    failure: str
    """Groovy's words, where the file is no Groovy or refuses what is given"""


@dataclass(frozen=True)
class BuildFile:
    """A build file, and what it finds in its project."""

    path: Path
    given: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    """`property` are Gradle properties, `ext` the root project's, `plugin` what is applied already"""

    def words(self) -> list[str | Path]:
        pairs = ((kind, name, value) for kind, values in self.given.items() for name, value in values.items())
        return [self.path, *(f"{kind}:{name}={value}" for kind, name, value in pairs)]


def evaluate(build_file: Path) -> list[tuple[str, str]]:
    """The calls of a build file. Raises ToolError with Groovy's words."""
    [found] = evaluate_all([BuildFile(build_file)])
    if found.failure:
        raise ToolError(f"Groovy failed: {found.failure}")
    return found.calls


def evaluate_all(files: Sequence[BuildFile]) -> list[Evaluated]:
    """Runs build files, one after the other in one process."""
    compiler = kotlin.find_compiler()
    groovy = _groovy()
    driver = jvm.compile_kotlin(sorted(DRIVER.glob("*.kt")), classpath=[groovy])
    path = os.pathsep.join(map(str, [driver, groovy, compiler.stdlib]))
    words = [word for each in files for word in ("--", *each.words())][1:]
    said = commands.run([compiler.java, *kotlin.JAVA_FLAGS, "-cp", path, "EvaluateKt", *words], what="Groovy")
    found = [_evaluated(text) for text in said.removesuffix("\n\n").split("\n\n")]
    assert len(found) == len(files), said
    return found


def _evaluated(lines: str) -> Evaluated:
    calls = [(name, value) for name, _, value in (line.partition("\t") for line in lines.splitlines())]
    failed = [value for name, value in calls if name == FAILED]
    return Evaluated([call for call in calls if call[0] != FAILED], "".join(failed))


@cache
def _groovy() -> Path:
    """Groovy's jar, from the cache or fetched. Raises ToolError."""
    package = downloads.fetch("groovy")
    folder = cache_folder() / "groovy" / package.name[:16]

    def unpack(made: Path) -> None:
        with tarfile.open(package) as archive:
            content = archive.extractfile(JAR)
            assert content, f"{package} has no {JAR}"
            (made / "groovy.jar").write_bytes(content.read())

    install_once(folder, unpack)
    return folder / "groovy.jar"
