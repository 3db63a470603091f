"""`mobpack diff` against the tools that compare APIs in each language: what they find changed, it reports; what they
call incompatible is a major change to it. Exceptions are named with their reasons.

Old and new packages have the changes of `differences_cases` and of `declaration_changes`, each under a name of its own.
"""

import re
from collections.abc import Mapping, Sequence

from packager.distribution.differences import Change, Level
from tests.declarations import interfaces
from tests.declarations.values import Declaration, DeclaredPackage


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


def numbered(text: str, number: int) -> str:
    """A declaration whose name has a number: `A` is `A7`, `Inputs` is `A7Inputs`."""
    named = re.sub(r"\b(Inputs|Outputs)\b", rf"A{number}\1", text)
    return re.sub(r"\b([Aa])\b", rf"\g<1>{number}", named)
