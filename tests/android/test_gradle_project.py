"""The emitted Gradle project and its build; a fake `gradle` on PATH stands in for the real one."""

import subprocess
from pathlib import Path

from packager.targets.kotlin import kotlin
from tests.cases.gradle_project import text


def test_build_files_are_kotlin_without_syntax_errors(kotlin_compiler: None, tmp_path: Path) -> None:
    assert syntax_errors([text("build.gradle.kts"), text("settings.gradle.kts")], tmp_path) == []


def syntax_errors(scripts: list[str], folder: Path) -> list[str]:
    """Errors that the Kotlin parser finds in `scripts`; names are not resolved: Gradle's own are not available here."""
    compiler, sources = kotlin.find_compiler(), []
    for number, script in enumerate(scripts):
        imports = [line for line in script.splitlines() if line.startswith("import ")]
        body = [line for line in script.splitlines() if not line.startswith("import ")]
        sources.append(folder / f"Script{number}.kt")
        sources[-1].write_text("\n".join([*imports, f"fun script{number}() {{", *body, "}"]), encoding="utf-8")
    options = ["-no-stdlib", "-jdk-home", compiler.java_home, "-cp", compiler.stdlib, "-d", folder / "out"]
    command = [*compiler.program(), *options, *sources]
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    messages = [line for line in done.stderr.splitlines() if ": error: " in line]
    assert messages, done.stderr  # there are always some: no script compiles without Gradle
    return [line for line in messages if "syntax error" in line.lower()]
