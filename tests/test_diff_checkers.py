"""`mobpack diff` against the tools that compare APIs in each language: what they find changed, it reports; what they
call incompatible is a major change to it. Exceptions are named with their reasons.

Old and new packages have the changes of `differences_cases` and of `declaration_changes`, each under a name of its own.
"""

import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath

import pytest

from packager.distribution.differences import Change, Level
from packager.files.installed import templates_folder
from packager.files.zips import write_zip
from packager.render.templates import write_sources
from packager.targets.android import kotlin as kotlin_compiler
from tests import declaration_changes
from tests.declarations import interfaces, kotlin, swift, typescript
from tests.declarations.interfaces import ONLY_COMPILED_AGAIN
from tests.declarations.values import Declaration, DeclaredPackage
from tests.differences_cases import (
    ANDROID,
    ANDROID_BEFORE,
    CHANGED,
    IOS,
    IOS_BEFORE,
    REACT_NATIVE,
    REACT_NATIVE_BEFORE,
    class_name,
    kotlin_texts,
)
from tests.golden.cases import Case, Wrapped
from tests.test_react_native_typescript import code_of
from tests.toolchain import apple, jvm
from tests.toolchain.api_checkers import api_report, incompatible_classes, swift_changes
from tests.toolchain.kept import kept

pytestmark = pytest.mark.by_content

OWN = "com/example/changes/"
NOT_IN_CLASSES = {
    "fun a(y: Int): Int = y": "classes have no names of parameters",
    "fun a(x: Int): Int = x <- fun a(x: Int = 1): Int = x": "defaults are in a method that only Kotlin calls",
    "interface A { public fun x() } <- fun interface A { public fun x() }": "Java makes any interface of a lambda",
    "val A: Int = 1 <- const val A: Int = 1": "the values of constants are copied into the code that uses them",
}
"""Major changes that japi-compliance-checker does not see: new declaration, with the old one where that matters."""
NOT_REPORTED = {
    "declare class A { private constructor(); x(): void; }": "the report has no private members, constructors included",
}
"""Changes in TypeScript that API Extractor's report does not have."""
NOT_DIGESTED = {
    "public func a(x: Int) async {}": "no message about `async`",
    "@MainActor public func a() {}": "no message about actors",
}
"""Major changes of which swift-api-digester 6.0.3 says nothing."""
CRASHES = "public protocol A { var x: Int { get set } }"
"""The new declaration with which swift-api-digester 6.0.3 ends: a failed assertion in Casting.h."""
ADDITIONS = re.compile(r"has been renamed to Func a\d+\(_:y:(z:)?\)$|has been added as a new enum case$")
"""Messages of it about a new parameter with a default, and about a new case: apps compile as they are."""


def is_expected(names: Mapping[str, str], old: str, new: str) -> bool:
    return new in names or f"{new} <- {old}" in names


def changes(language: str, old: Sequence[Declaration], new: Sequence[Declaration]) -> dict[str, list[Change]]:
    """Those of two packages, by the name of the top declaration that they speak of."""
    found: dict[str, list[Change]] = {}
    packages = (DeclaredPackage(language=language, declarations=tuple(each)) for each in (old, new))
    for each in interfaces.changes(*packages):
        named = re.match(r"(?:new )?\w+ (\w+)", each.change)
        assert named, each.change
        found.setdefault(named[1], []).append(each)
    return found


def major(found: Mapping[str, Sequence[Change]]) -> set[str]:
    return {name for name, several in found.items() if any(each.level is Level.MAJOR for each in several)}


@pytest.mark.kotlin
def test_japi_compliance_checker_calls_the_same_changes_incompatible(kotlin_compiler: None, tmp_path: Path) -> None:
    old, new = (compiled_kotlin(case, index) for index, case in enumerate((ANDROID_BEFORE, ANDROID)))
    old_jar, new_jar = only_other(old, new, tmp_path / "old.jar"), only_other(new, old, tmp_path / "new.jar")
    said = incompatible_classes(old_jar, new_jar, tmp_path)

    found = changes("Kotlin", *(all_kotlin(case) for case in (ANDROID_BEFORE, ANDROID)))
    classes = {name.removeprefix(OWN) for name in said["binary"] | said["source"] if name.startswith(OWN)}
    assert classes == major(found)
    assert classes == {class_name(each.name) for each in CHANGED if not each.kotlin}

    for index, (before, after, level) in enumerate(declaration_changes.KOTLIN):
        is_incompatible = any(name.startswith(f"changed{index}/") for each in said.values() for name in each)
        several = changes("Kotlin", *(kotlin.declarations(f"public {each}") for each in (before, after)))
        if is_incompatible and level is not Level.MAJOR:
            assert {each.reason for group in several.values() for each in group} >= {ONLY_COMPILED_AGAIN}, after
        elif level is Level.MAJOR:
            assert is_incompatible is not is_expected(NOT_IN_CLASSES, before, after), (before, after)
        assert bool(major(several)) is (level is Level.MAJOR), (before, after)


def compiled_kotlin(case: Case, index: int) -> Path:
    """Classes of a package and of the old (0) or new (1) declarations, each of these in a package of its own."""
    single = {
        f"changed{number}/Changed.kt": f"package changed{number}\n\npublic {each[index]}\n"
        for number, each in enumerate(declaration_changes.KOTLIN)
    }
    texts = {**kotlin_texts(case), **single}

    def make(folder: Path) -> None:
        kotlin_compiler.compile_kotlin(texts, module_name="changes", work=folder, libraries=[jvm.coroutines()])

    content = [f"{name}\n{text}" for name, text in (texts | kotlin_compiler.stubs()).items()]
    return kept("changes-kotlin", make, kotlin_compiler.compiler_version(), *content) / "classes"


def only_other(classes: Path, others: Path, jar: Path) -> Path:
    """A jar with the classes that are other ones in the folder `others`, or missing there: most are the same."""
    names = [path.relative_to(classes) for path in kotlin_compiler.files(classes)]
    other = [name for name in names if is_other(classes / name, others / name)]
    return write_zip(jar, {PurePosixPath(name.as_posix()): classes / name for name in other})


def is_other(file: Path, other: Path) -> bool:
    return not other.is_file() or file.read_bytes() != other.read_bytes()


def all_kotlin(case: Case) -> tuple[Declaration, ...]:
    return tuple(each for text in kotlin_texts(case).values() for each in kotlin.declarations(text))


@pytest.mark.react_native
def test_api_extractor_reports_the_same_exports_as_changed(tmp_path: Path) -> None:
    folders = [packed(tmp_path / "old", REACT_NATIVE_BEFORE, 0), packed(tmp_path / "new", REACT_NATIVE, 1)]
    old, new = (api_report(folder, "lib/all.d.ts") for folder in folders)
    found = changes("TypeScript", *map(all_typescript, folders))

    names = {*old, *new}
    silent = {f"A{index}" for index, each in enumerate(declaration_changes.TYPESCRIPT) if each[1] in NOT_REPORTED}
    assert {name for name in names if old.get(name) != new.get(name)} == set(found) - silent
    for name in (each for each in set(old) & set(new) & set(found) if not each[1].isdigit()):
        members = {member(line) for line in old[name] ^ new[name]}
        paths = (re.match(r"(?:new )?\w+ \w+(?:\.\w+)*\.(\w+)", each.change) for each in found[name])
        assert members == {path[1] if path else "" for path in paths}, name
    for index, (before, after, level) in enumerate(declaration_changes.TYPESCRIPT):
        own = {name for name in found if re.fullmatch(rf"[Aa]{index}(Inputs|Outputs)?", name)}
        assert bool(own & major(found)) is (level is Level.MAJOR), (before, after)


def member(line: str) -> str:
    """The name that a line of the report declares in a type."""
    named = re.match(r"(?:readonly |static )*(\w+)", line)
    assert named, line
    return named[1]


def packed(folder: Path, package: Wrapped, index: int) -> Path:
    """The npm package, with the old (0) or new (1) declarations beside its own."""
    write_sources(code_of(package.sources()), folder)
    single = [numbered(each[index], number) for number, each in enumerate(declaration_changes.TYPESCRIPT)]
    texts = {
        "changed": "".join(f"export {text}\n" for text in single),
        "all": "export * from './index.js';\nexport * from './changed.js';\n",
    }
    for name, text in texts.items():
        (folder / "lib" / f"{name}.d.ts").write_text(text, encoding="utf-8", newline="\n")
    return folder


def numbered(text: str, number: int) -> str:
    """A declaration whose name has a number: `A` is `A7`, `Inputs` is `A7Inputs`."""
    named = re.sub(r"\b(Inputs|Outputs)\b", rf"A{number}\1", text)
    return re.sub(r"\b([Aa])\b", rf"\g<1>{number}", named)


def all_typescript(folder: Path) -> tuple[Declaration, ...]:
    paths = sorted(folder.rglob("*.d.ts"))
    texts = {path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8") for path in paths}
    return typescript.declarations(texts, ["lib/all.d.ts"])


@pytest.mark.swift
def test_swift_api_digester_calls_the_same_changes_breaking(tmp_path: Path) -> None:
    old, new = (
        compiled_swift(case, index, tmp_path / name)
        for index, (name, case) in enumerate((("old", IOS_BEFORE), ("new", IOS)))
    )
    said = swift_changes("ChangesKit", old, new, tmp_path)

    found = changes("Swift", *(all_swift(case, index) for index, case in enumerate((IOS_BEFORE, IOS))))
    models = {class_name(each.name) for each in CHANGED}
    breaking = {name for name, lines in said.items() if not all(map(ADDITIONS.search, lines))}
    assert breaking & models == major(found) & models
    assert breaking & models == {class_name(each.name) for each in CHANGED if not each.swift}
    for index, (before, after, level) in enumerate(declaration_changes.SWIFT):
        names = {f"A{index}", f"a{index}"}
        assert bool(names & major(found)) is (level is Level.MAJOR), (before, after)
        is_silent = after in NOT_DIGESTED or after == CRASHES
        assert bool(names & breaking) is (level is Level.MAJOR and not is_silent), (before, after)
    assert breaking <= major(found)


def compiled_swift(case: Case, index: int, folder: Path) -> list[Path]:
    """The folders of the module, with the old (0) or new (1) declarations in it, and of the C module it imports."""
    for path, text in case.texts().items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8", newline="\n")
    module, c_module = (folder / "Sources" / name for name in ("ChangesKit", "CChangesKit"))
    shutil.copytree(templates_folder() / "ios" / "onnxruntime", c_module, dirs_exist_ok=True)
    (module / "Changed.swift").write_text(single_swift(index), encoding="utf-8", newline="\n")
    done = apple.compile_swift(
        "ChangesKit",
        sorted(module.glob("*.swift")),
        folder,
        c_modules={"CChangesKit": c_module / "include"},
        is_checked_alone=True,
    )
    assert done.returncode == 0, done.output
    return [folder, c_module / "include"]


def single_swift(index: int) -> str:
    """The old (0) or new (1) declarations; the old one where the tool ends with the new one."""
    chosen = [each[0] if each[1] == CRASHES else each[index] for each in declaration_changes.SWIFT]
    return "".join(f"{numbered(text, number)}\n" for number, text in enumerate(chosen))


def all_swift(case: Case, index: int) -> tuple[Declaration, ...]:
    own = [text for path, text in case.texts().items() if "Sources/ChangesKit/" in path.as_posix()]
    single = "".join(f"{numbered(each[index], number)}\n" for number, each in enumerate(declaration_changes.SWIFT))
    return swift.declarations([*own, single])
