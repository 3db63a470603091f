"""`mobpack diff` against the tools that compare APIs in each language: what they find changed, it reports; what they
call incompatible is a major change to it. Exceptions are named with their reasons.

Old and new packages have the changes of `differences_cases` and of `declaration_changes`, each under a name of its own.
"""

import re
from pathlib import Path

from packager.distribution.differences import Level
from packager.render.templates import write_sources
from tests.cases import declaration_changes
from tests.cases.diff_checkers import changes, major, numbered
from tests.cases.differences_cases import (
    REACT_NATIVE,
    REACT_NATIVE_BEFORE,
)
from tests.cases.react_native_typescript import code_of
from tests.declarations import typescript
from tests.declarations.values import Declaration
from tests.golden.cases import Wrapped
from tests.toolchain.api_checkers import api_report

NOT_REPORTED = {
    "declare class A { private constructor(); x(): void; }": "the report has no private members, constructors included",
}
"""Changes in TypeScript that API Extractor's report does not have."""


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


def all_typescript(folder: Path) -> tuple[Declaration, ...]:
    paths = sorted(folder.rglob("*.d.ts"))
    texts = {path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8") for path in paths}
    return typescript.declarations(texts, ["lib/all.d.ts"])
