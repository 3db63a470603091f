"""`mobpack diff` against the tools that compare APIs in each language: what they find changed, it reports; what they
call incompatible is a major change to it. Exceptions are named with their reasons.

Old and new packages have the changes of `differences_cases` and of `declaration_changes`, each under a name of its own.
"""

from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from packager.distribution.differences import Level
from packager.files.zips import write_zip
from packager.targets.android import kotlin as kotlin_compiler
from tests.cases import declaration_changes
from tests.cases.diff_checkers import changes, major
from tests.cases.differences_cases import (
    ANDROID,
    ANDROID_BEFORE,
    CHANGED,
    class_name,
    kotlin_texts,
)
from tests.declarations import kotlin
from tests.declarations.interfaces import ONLY_COMPILED_AGAIN
from tests.declarations.values import Declaration
from tests.golden.cases import Case
from tests.toolchain import jvm
from tests.toolchain.api_checkers import incompatible_classes
from tests.toolchain.kept import kept

OWN = "com/example/changes/"

NOT_IN_CLASSES = {
    "fun a(y: Int): Int = y": "classes have no names of parameters",
    "fun a(x: Int): Int = x <- fun a(x: Int = 1): Int = x": "defaults are in a method that only Kotlin calls",
    "interface A { public fun x() } <- fun interface A { public fun x() }": "Java makes any interface of a lambda",
    "val A: Int = 1 <- const val A: Int = 1": "the values of constants are copied into the code that uses them",
}
"""Major changes that japi-compliance-checker does not see: new declaration, with the old one where that matters."""


def is_expected(names: Mapping[str, str], old: str, new: str) -> bool:
    return new in names or f"{new} <- {old}" in names


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
