"""`mobpack diff` calls a change of an interface breaking where the compilers of Dart, Kotlin, Swift and TypeScript
refuse an app that was written for the old one, and nowhere else."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from packager.distribution.differences import Change, Level, interfaces
from packager.distribution.differences.values import heaviest
from packager.files.installed import templates_folder
from packager.render.templates import write_sources
from packager.targets.android import Android
from packager.targets.android import kotlin as kotlin_compiler_of
from tests.declarations import interfaces as declared
from tests.declarations import kotlin
from tests.declarations.values import DeclaredPackage
from tests.differences_cases import (
    ANDROID,
    APPS_IN_DART,
    APPS_IN_KOTLIN,
    APPS_IN_SWIFT,
    APPS_IN_TYPESCRIPT,
    CHANGED,
    FLUTTER,
    IOS,
    REACT_NATIVE,
    Changed,
    app,
    changed,
    kotlin_texts,
)
from tests.test_react_native_typescript import code_of
from tests.toolchain import apple, jvm, typescript
from tests.toolchain.dart import configured_package, dart

pytestmark = pytest.mark.by_content

OLD = ("given", "typed")
NEW_PROVIDER = kotlin_texts(replace(ANDROID, target=Android(providers=("xnnpack",))))["com/example/changes/Provider.kt"]
PROVIDER_APP = """package added
fun name(provider: Provider): String = if (provider == Provider.CPU) "cpu" else provider.name
"""
GONE = "package com.example.changes\nfun gone(): Removed? = null\n"


def says_breaking(language: str, each: Changed) -> bool:
    of_all = changed(language)
    return is_major(interfaces.changes(of_all[each.of].api, of_all[each.name].api))


def is_major(found: Iterable[Change]) -> bool:
    return heaviest(*(each.level for each in found)) is Level.MAJOR


@pytest.mark.parametrize("each", CHANGED, ids=lambda each: each.name)
def test_the_verdict_is_the_expected_one_in_every_language(each: Changed) -> None:
    for language, compiles in (
        ("Kotlin", each.kotlin),
        ("TypeScript", each.typescript),
        ("Swift", each.swift),
        ("Dart", each.dart),
    ):
        assert says_breaking(language, each) is not compiles, language


def files_with_errors(output: str) -> set[str]:
    return {Path(name).stem for name in re.findall(r"^(\S+?\.(?:kt|ts|swift))[:(]\d+.*error", output, re.MULTILINE)}


@pytest.mark.kotlin
@pytest.mark.android
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


def write(texts: Mapping[str, str], folder: Path) -> None:
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


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


@pytest.mark.react_native
def test_typescript_refuses_the_apps_that_the_verdict_says(tmp_path: Path) -> None:
    write_sources(code_of(REACT_NATIVE.sources()), tmp_path / "rendered")
    place = typescript.workplace({"package": tmp_path / "rendered" / "lib"}, tmp_path / "work")
    apps = {name: app(APPS_IN_TYPESCRIPT, name, name) for name in OLD}
    apps |= {each.name: app(APPS_IN_TYPESCRIPT, each.of, each.name) for each in CHANGED}
    for name, text in apps.items():
        (place.src / f"{name}.ts").write_text(text, encoding="utf-8")

    done = place.compile({"noEmit": True})

    refused = {each.name for each in CHANGED if says_breaking("TypeScript", each)}
    assert files_with_errors(done.stdout) == refused, done.output


@pytest.mark.swift
def test_swift_refuses_the_apps_that_the_verdict_says(tmp_path: Path) -> None:
    write({path.as_posix(): text for path, text in IOS.texts().items()}, tmp_path / "package")
    sources = tmp_path / "package" / "Sources"
    shutil.copytree(templates_folder() / "ios" / "onnxruntime", sources / "CChangesKit", dirs_exist_ok=True)
    apps = {name: app(APPS_IN_SWIFT, name, name) for name in OLD}
    apps |= {each.name: app(APPS_IN_SWIFT, each.of, each.name) for each in CHANGED}
    write({f"{name}.swift": text for name, text in apps.items()}, tmp_path / "apps")

    done = apple.compile_swift(
        "ChangesKit",
        [*sorted((tmp_path / "apps").glob("*.swift")), *sorted((sources / "ChangesKit").glob("*.swift"))],
        tmp_path,
        c_modules={"CChangesKit": sources / "CChangesKit" / "include"},
    )

    refused = {each.name for each in CHANGED if says_breaking("Swift", each)}
    assert files_with_errors(done.output) == refused, done.output


@pytest.mark.flutter
def test_dart_refuses_the_apps_that_the_verdict_says(tmp_path: Path) -> None:
    view = FLUTTER.view()
    sources = FLUTTER.target.render(replace(view, files={}))
    write_sources(sources, tmp_path)
    configured_package(tmp_path, view.names.pub_name)
    apps = {name: app(APPS_IN_DART, name, name) for name in OLD}
    apps |= {each.name: app(APPS_IN_DART, each.of, each.name) for each in CHANGED}
    write({f"apps/{name}.dart": text for name, text in apps.items()}, tmp_path)

    done = dart().run(["dart", "analyze", "--format=machine", "lib", "apps"], cwd=tmp_path)

    errors = [line for line in done.output.splitlines() if line.startswith("ERROR|")]
    refused = {each.name for each in CHANGED if says_breaking("Dart", each)}
    assert {Path(line.split("|")[3]).stem for line in errors} == refused, done.output


def test_a_provider_more_is_a_minor_change() -> None:
    texts = (kotlin_texts()["com/example/changes/Provider.kt"], NEW_PROVIDER)
    before, after = (DeclaredPackage(language="Kotlin", declarations=kotlin.declarations(text)) for text in texts)
    (read,) = declared.changes(before, after)
    old = changed("Kotlin")["typed"].api
    new = replace(old, providers=(*old.providers, "xnnpack"))
    (change,) = interfaces.changes(old, new)
    assert (read.level, change.level, change.change) == (Level.MINOR, Level.MINOR, "new provider xnnpack")
    assert is_major(declared.changes(after, before))
    assert is_major(interfaces.changes(new, old))
