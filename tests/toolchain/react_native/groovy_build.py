"""Runs a package's build.gradle with Gradle's Groovy but without Gradle, and records its calls."""

import os
import tarfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from packager.files.atomic import install_once
from packager.files.user_cache import cache_folder
from packager.processes import commands, downloads
from packager.targets.android import kotlin
from tests.toolchain import jvm

# Short stack traces, so that the message above them is among the last lines that a ToolError quotes.
JAVA_FLAGS = (*kotlin.JAVA_FLAGS, "-XX:MaxJavaStackTraceDepth=4")
DRIVER = Path(__file__).with_name("groovy_driver")
JAR = "package/lib/java/groovy/lib/groovy-4.0.26.jar"


def evaluate(build_file: Path, **given: Mapping[str, object]) -> list[tuple[str, str]]:
    """The calls of a build file in their order, such as `("android.defaultConfig.minSdk", "24")`.

    `property` are Gradle properties, `ext` the root project's, `plugin` what is applied already. Raises ToolError with
    Groovy's words when the file is no Groovy or refuses what is given.
    """
    words = [f"{kind}:{name}={value}" for kind, values in given.items() for name, value in values.items()]
    compiler = kotlin.find_compiler()
    groovy = _groovy()
    driver = jvm.compile_kotlin(sorted(DRIVER.glob("*.kt")), classpath=[groovy])
    path = os.pathsep.join(map(str, [driver, groovy, compiler.stdlib]))
    said = commands.run([compiler.java, *JAVA_FLAGS, "-cp", path, "EvaluateKt", build_file, *words], what="Groovy")
    return [(name, value) for name, _, value in (line.partition("\t") for line in said.splitlines())]


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
