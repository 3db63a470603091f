"""`mobpack diff` calls a change of an interface breaking where the compilers of Dart, Kotlin, Swift and TypeScript
refuse an app that was written for the old one, and nowhere else."""

import os
import subprocess
from pathlib import Path

from packager.targets.kotlin import kotlin as kotlin_compiler_of
from tests.cases.diff_compilers import NEW_PROVIDER, OLD, files_with_errors, says_breaking, write
from tests.cases.differences_cases import APPS_IN_KOTLIN, CHANGED, app, kotlin_texts
from tests.toolchain import jvm

PROVIDER_APP = """package added
fun name(provider: Provider): String = if (provider == Provider.CPU) "cpu" else provider.name
"""

GONE = "package com.example.changes\nfun gone(): Removed? = null\n"


def test_kotlin_refuses_the_apps_that_the_verdict_says(kotlin_compiler: None, tmp_path: Path) -> None:
    apps = {name: app(APPS_IN_KOTLIN, name, name) for name in OLD}
    apps |= {each.name: app(APPS_IN_KOTLIN, each.of, each.name) for each in CHANGED}
    folder = tmp_path / "apps"
    write({**kotlin_texts(), **kotlin_compiler_of.stubs()}, folder)
    for name, text in apps.items():
        (folder / f"{name}.kt").write_text(f"package com.example.changes\n{text}", encoding="utf-8")
    (folder / "gone.kt").write_text(GONE, encoding="utf-8")
    (folder / "Provider.kt").write_text(NEW_PROVIDER.replace("com.example.changes", "added"), encoding="utf-8")
    (folder / "provider.kt").write_text(PROVIDER_APP, encoding="utf-8")

    refused = files_with_errors(compiled(folder))

    assert refused == {each.name for each in CHANGED if says_breaking("Kotlin", each)} | {"gone"}


def compiled(folder: Path) -> str:
    """The compiler's messages about the package and the apps, in one run: it writes no classes, as some are wrong."""
    compiler = kotlin_compiler_of.find_compiler()
    done = subprocess.run(
        [
            *compiler.program(),
            *("-no-stdlib", "-no-reflect", "-jvm-target", "11", "-jdk-home", str(compiler.java_home)),
            *("-cp", os.pathsep.join(map(str, (compiler.stdlib, jvm.coroutines())))),
            *("-d", "out", "."),
        ],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout + done.stderr
