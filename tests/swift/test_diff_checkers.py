"""`mobpack diff` against the tools that compare APIs in each language: what they find changed, it reports; what they
call incompatible is a major change to it. Exceptions are named with their reasons.

Old and new packages have the changes of `differences_cases` and of `declaration_changes`, each under a name of its own.
"""

import re
import shutil
from pathlib import Path

from packager.distribution.differences import Level
from packager.files.installed import templates_folder
from tests.cases import declaration_changes
from tests.cases.diff_checkers import changes, major, numbered
from tests.cases.differences_cases import (
    CHANGED,
    IOS,
    IOS_BEFORE,
    class_name,
)
from tests.declarations import swift
from tests.declarations.values import Declaration
from tests.golden.cases import Case
from tests.toolchain import apple
from tests.toolchain.api_checkers import swift_changes

NOT_DIGESTED = {
    "public func a(x: Int) async {}": "no message about `async`",
    "@MainActor public func a() {}": "no message about actors",
}
"""Major changes of which swift-api-digester 6.0.3 says nothing."""

CRASHES = "public protocol A { var x: Int { get set } }"
"""The new declaration with which swift-api-digester 6.0.3 ends: a failed assertion in Casting.h."""

ADDITIONS = re.compile(r"has been renamed to Func a\d+\(_:y:(z:)?\)$|has been added as a new enum case$")
"""Messages of it about a new parameter with a default, and about a new case: apps compile as they are."""


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
