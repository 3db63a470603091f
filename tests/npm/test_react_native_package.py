"""The npm package that `mobpack build` makes is one that an app can take: its types, its code, its list of files.

The package is the real one of a real model, and so are the tools: TypeScript, ESLint with the rules of React and of
strict types, React Native's code generator, npm, publint and attw.
"""

import json
import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.cases.react_native_package import CHECKS, Compiled, built, compiled, difficult, each
from tests.toolchain import node, typescript
from tests.toolchain.node import Finished
from tests.toolchain.npm_checks import check
from tests.toolchain.react_native import codegen, packages
from tests.toolchain.react_native.packages import Built

__all__ = ["built", "compiled", "difficult", "each"]


MODULE = "PageOrientation"

METHODS = {"about", "open", "close", "run", "runSync", "worklet", "profile", "residentBytes", "cancel", "take", "drop"}
"""Methods of the C++ module, beside those that concern files."""


def complaints(done: Finished) -> list[str]:
    """The compiler's complaints about files that are not React Native's own, whose types have faults."""
    assert done.returncode in (0, 1, 2), done.output
    lines = [line for line in done.stdout.splitlines() if line and not line[0].isspace()]
    assert bool(lines) == bool(done.returncode), done.output
    return [line for line in lines if "/node_modules/react-native/" not in line.partition("(")[0]]


def eslint(folder: Path, *paths: str) -> Finished:
    """ESLint's messages for files of a folder that has a tsconfig.json."""
    shutil.copy(CHECKS / "eslint.config.mjs", folder)
    return check(typescript.PROJECT, "eslint", "--max-warnings=0", *paths, folder=folder)


def test_the_sources_the_readmes_examples_and_a_program_that_uses_all_of_a_package_compile(
    compiled: Mapping[str, Compiled],
) -> None:
    assert {name: found for name, each in compiled.items() if (found := complaints(each.done))} == {}


def test_the_sources_and_the_readmes_examples_hold_to_the_rules_of_strict_types_and_of_react(
    compiled: Mapping[str, Compiled],
) -> None:
    folders = [compiled[name].folder for name in ("sources", "examples")]
    [around] = {folder.parent for folder in folders}
    node.link(node.project(typescript.PROJECT), around)

    done = eslint(around, *(f"{folder.name}/src" for folder in folders))

    assert (done.returncode, done.output) == (0, "")


@pytest.fixture(scope="module")
def with_codegen(built: Built, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an app, and what React Native's code generator makes of the package in `android`."""
    folder = tmp_path_factory.mktemp("codegen")
    app = built.app(folder / "app")
    codegen.for_android(app / "node_modules" / built.name, folder / "android")
    return folder


def test_codegen_makes_cpp_of_one_module_and_java_of_the_other(with_codegen: Path) -> None:
    made = with_codegen / "android"
    java = [path.relative_to(made / "java").as_posix() for path in made.rglob("*.java")]
    assert java == [f"com/example/pageorientation/reactnative/Native{MODULE}FilesAndroidSpec.java"]
    text = (made / "java" / java[0]).read_text(encoding="utf-8")
    assert set(re.findall(r"public abstract \w+ (\w+)\(", text)) == {"device", "isHot", "locate"}
    [header] = made.rglob(f"{MODULE}SpecJSI.h")
    assert methods(header, f"Native{MODULE}CxxCxxSpec") >= METHODS
    glue = (made / "jni" / f"{MODULE}Spec-generated.cpp").read_text(encoding="utf-8")
    assert f"Native{MODULE}FilesAndroidSpecJSI" in glue
    assert f"{MODULE}Cxx" not in glue, "it would be looked for in Java"


def test_codegen_makes_the_same_cpp_for_ios_and_nothing_of_the_module_for_android(with_codegen: Path) -> None:
    made = codegen.for_ios(with_codegen / "app", with_codegen / "ios")

    [header] = made.rglob(f"{MODULE}SpecJSI.h")
    [other] = (with_codegen / "android").rglob(f"{MODULE}SpecJSI.h")
    name = f"Native{MODULE}CxxCxxSpec"
    assert methods(header, name) == methods(other, name) >= METHODS
    texts = {path: path.read_text(encoding="utf-8") for path in made.rglob("*") if path.is_file() and path != header}
    assert any(path.name == f"{MODULE}Spec-generated.mm" for path in texts)
    named = [path.name for path, text in texts.items() if f"{MODULE}Files" in text or f"{MODULE}Cxx" in text]
    assert named == [], "they would be looked for in Objective-C"


def methods(header: Path, name: str) -> set[str]:
    """Methods that a C++ class must implement for a module, as the generated header lists them."""
    text = header.read_text(encoding="utf-8")
    [body] = re.findall(rf"^class JSI_EXPORT {name} .*?^}};$", text, re.MULTILINE | re.DOTALL)
    return set(re.findall(r'methodMap_\["(\w+)"\]', body))


def test_npm_packs_the_same_files_with_the_same_bytes(each: Built, tmp_path: Path) -> None:
    done = node.npm("pack", "--pack-destination", str(tmp_path), cwd=each.package)

    assert done.returncode == 0, done.output
    assert different(each.archive, tmp_path / each.archive.name) == []


def different(one: Path, other: Path) -> list[str]:
    """Paths of files that differ between two tarballs: in presence, mode or bytes."""
    files, others = packages.entries(one), packages.entries(other)
    return sorted(path for path in {*files, *others} if files.get(path) != others.get(path))


def test_publint_has_no_suggestion(each: Built, tmp_path: Path) -> None:
    archive = each.archive
    os.link(archive, tmp_path / archive.name)

    done = check(
        typescript.PROJECT, "publint", "run", "--strict", "--level", "suggestion", archive.name, folder=tmp_path
    )

    assert done.returncode == 0, done.output
    assert done.stdout.strip().endswith("All good!"), done.output


def test_types_are_not_wrong(each: Built, tmp_path: Path) -> None:
    """Node and bundlers find types for all exports except Expo's plug-in, which no program imports."""
    options = ["--profile", "esm-only", "--no-definitely-typed", "--format", "json"]
    archive = each.archive
    os.link(archive, tmp_path / archive.name)

    excluded = ("--exclude-entrypoints", *plugins(each))
    done = check(typescript.PROJECT, "attw", archive.name, *options, *excluded, folder=tmp_path)

    assert done.returncode == 0, done.output
    analysis = json.loads(done.stdout)["analysis"]
    assert set(analysis["entrypoints"]) >= {".", "./onnxruntime", "./package.json"}
    assert [
        problem for problem in analysis["problems"] if problem.get("resolutionKind") in ("node16-esm", "bundler")
    ] == []


def plugins(built: Built) -> list[str]:
    return [name.removeprefix("./") for name in built.description["exports"] if name.startswith("./app.plugin")]


def test_an_app_gets_nothing_else_with_it_and_runs_nothing_of_it(each: Built) -> None:
    description = each.description

    assert [key for key in description if key.endswith("ependencies")] == ["peerDependencies"]
    assert set(description["peerDependencies"]) == {"react", "react-native", "onnxruntime-web"}
    assert description["peerDependenciesMeta"] == {"onnxruntime-web": {"optional": True}}
    assert not {"scripts", "bin", "gypfile", "binary"} & set(description)


def test_npm_installs_it_into_an_empty_project(each: Built, tmp_path: Path) -> None:
    (tmp_path / "package.json").write_text('{"name": "app", "private": true}', encoding="utf-8")

    done = node.npm("install", "--offline", each.archive, cwd=tmp_path)

    assert done.returncode == 0, done.output
    installed = tmp_path / "node_modules" / each.name
    assert contents(installed) == contents(each.package)
    beside = {path.name for path in (tmp_path / "node_modules").iterdir()}
    assert beside == {".package-lock.json", each.name.split("/")[0]}


def test_what_is_exported_is_there(each: Built, tmp_path: Path) -> None:
    """A Node app finds it by each of the exported names."""
    app = each.app(tmp_path / "app")
    asset = next(path for path in (each.package / "models").rglob("*.ort.tflite")).relative_to(each.package).as_posix()
    names = [asset if "*" in name else name.removeprefix("./") for name in each.description["exports"]]
    (app / "all.mjs").write_text(
        "for (const name of process.argv.slice(2)) console.log(import.meta.resolve(name))", encoding="utf-8"
    )

    done = node.run(["all.mjs", *(f"{each.name}/{name}".removesuffix("/.") for name in names)], cwd=app)

    assert done.returncode == 0, done.output
    found = [Path(line.removeprefix("file://")) for line in done.stdout.split()]
    assert len(found) == len(names)
    assert [path for path in found if not path.is_file()] == []


SERVER = """\
import { readFile, readdir } from 'node:fs/promises';
import path from 'node:path';
import * as ort from 'onnxruntime-node';
const [name, models] = process.argv.slice(2);
const { setOnnxRuntime } = await import(`${name}/onnxruntime`);
const files = await readdir(models, { recursive: true });
const locate = (name) => files.find((file) => path.basename(file) === name);
setOnnxRuntime(ort, { read: (name) => readFile(path.join(models, locate(name))) });
const definition = Object.values(await import(name)).find((each) => 'load' in each);
const model = await definition.load();
console.log((await model.selfTest()).passed);
"""


def test_a_server_that_renders_pages_takes_it_without_react_native(each: Built, tmp_path: Path) -> None:
    """Expo's server and others use the condition `node`: Node cannot load React Native itself."""
    app = each.app(tmp_path / "app")
    (app / "server.mjs").write_text(SERVER, encoding="utf-8")

    done = node.run(["server.mjs", each.name, each.package / "models"], cwd=app)

    assert (done.returncode, done.stdout) == (0, "true\n"), done.output


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
