"""Kotlin is compiled in units: a change compiles what depends on it, in one run of the compiler.

The compiler is a script that writes a class for every file, and the names of the files that it got.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import pytest

from packager.core.errors import ToolError
from packager.files.store import Store
from packager.targets.kotlin import kotlin, units
from tests.cases.archives import read_zip
from tests.toolchain import warm_java

JAVA = """#!/bin/sh
exec 3>> "$(dirname "$0")/told"
mkdir -p classes/META-INF
echo module > classes/META-INF/m.kotlin_module
for argument; do
  case $argument in
    -Xfriend-paths=*) test -d "${argument#*=}/META-INF" && printf 'friends ' >&3 ;;
    kotlin/*.kt)
      name=${argument#kotlin/}; name=${name%.kt}
      printf '%s ' "$name" >&3
      mkdir -p "classes/$(dirname "$name")"
      cp "$argument" "classes/$name.class"
      cp "$argument" "classes/$name\\$Inner.class"
      if grep -q 'fun top' "$argument"; then cp "$argument" "classes/${name}Kt.class"; fi
      if grep -q wrong "$argument"; then echo "$argument:1:1: error: wrong"; exit 1; fi ;;
  esac
done
echo >&3
"""
TEXTS = {"a/Scene.kt": "scene", "a/Small.kt": "small", "a/Session.kt": "session"}
SHARED = {"a/Session.class": "session", "a/Session$Inner.class": "session", "META-INF/m.kotlin_module": "module\n"}


@dataclass(frozen=True)
class Project:
    folder: Path

    def compile(self, texts: Mapping[str, str], labels: bytes = b"") -> dict[str, str]:
        """Text of every file in the jar; the models are those of `texts` that begin with S and are no session."""
        module = units.Module(
            name="m",
            onnxruntime="ai.onnxruntime",
            texts={PurePosixPath(name): text for name, text in texts.items()},
            models=[PurePosixPath(name) for name in ("a/Scene.kt", "a/Small.kt") if name in texts],
            resources={PurePosixPath("a/Scene.labels.txt"): labels} if labels else {},
        )
        jar = units.write_classes(self.folder / "classes.jar", module, Store(self.folder / "store"))
        return {str(name): content.decode() for name, content in read_zip(jar).items()}

    def runs(self) -> list[str]:
        """Arguments of each run of the compiler since the last call."""
        told = self.folder / "told"
        lines = told.read_text(encoding="utf-8").splitlines() if told.exists() else []
        told.unlink(missing_ok=True)
        return [line.strip() for line in lines]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    java = tmp_path / "java"
    java.write_text(JAVA, encoding="utf-8")
    java.chmod(0o755)
    compiler = kotlin.Compiler(java=java, java_home=tmp_path, jars=(), stdlib=tmp_path / "stdlib.jar")
    monkeypatch.setattr(kotlin, "find_compiler", lambda: compiler)
    monkeypatch.setattr(kotlin.Compiler, "run", warm_java.ALONE)
    return Project(tmp_path)


def classes(name: str, text: str) -> dict[str, str]:
    return {f"a/{name}.class": text, f"a/{name}$Inner.class": text}


def test_a_first_build_compiles_all_in_one_run(project: Project) -> None:
    found = project.compile(TEXTS)
    assert found == {**SHARED, **classes("Scene", "scene"), **classes("Small", "small")}
    assert project.runs() == ["a/Scene a/Session a/Small"]


def test_a_change_compiles_what_it_concerns_alone(project: Project) -> None:
    found = project.compile(TEXTS)
    project.runs()
    assert project.compile(TEXTS) == found
    assert project.runs() == []
    first = project.compile(TEXTS, b"cat")
    project.runs()
    assert project.compile(TEXTS, b"dog") == {**first, "a/Scene.labels.txt": "dog"}
    assert first["a/Scene.labels.txt"] == "cat"
    assert project.runs() == []
    project.compile(TEXTS)
    project.runs()
    found = project.compile({**TEXTS, "a/Small.kt": "other"})
    assert found == {**SHARED, **classes("Scene", "scene"), **classes("Small", "other")}
    assert project.runs() == ["friends a/Small"]
    project.compile(TEXTS)
    project.runs()
    project.compile({**TEXTS, "a/Scene.kt": "new", "a/Small.kt": "new"})
    assert project.runs() == ["friends a/Scene a/Small"]
    project.compile(TEXTS)
    project.runs()
    found = project.compile({**TEXTS, "a/Session.kt": "other"})
    assert found["a/Session.class"] == "other"
    assert project.runs() == ["a/Scene a/Session a/Small"]
    project.compile(TEXTS)
    project.runs()
    found = project.compile({name: text for name, text in TEXTS.items() if name != "a/Small.kt"})
    assert found == {**SHARED, **classes("Scene", "scene")}
    assert project.runs() == []


def test_what_does_not_compile_is_not_kept(project: Project) -> None:
    for _ in range(2):
        with pytest.raises(ToolError, match=r"Small.kt:1:1: error: wrong"):
            project.compile({**TEXTS, "a/Small.kt": "wrong"})
    assert project.compile(TEXTS) == {**SHARED, **classes("Scene", "scene"), **classes("Small", "small")}


def test_a_class_of_no_unit_is_an_error(project: Project) -> None:
    """Top-level functions of a model would be missing in the list of the module."""
    project.compile(TEXTS)
    with pytest.raises(RuntimeError, match=r"a/SmallKt.class is of no file"):
        project.compile({**TEXTS, "a/Small.kt": "fun top"})
