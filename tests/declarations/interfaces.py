"""Compares the public declarations of two packages of one target: does code that compiled with the old one still?"""

import re
from collections.abc import Iterator, Mapping, Sequence

from packager.distribution.differences.values import ORDER, Change, Level
from tests.declarations.values import Declaration, DeclaredPackage, Parameter

Groups = Mapping[str, Sequence[Declaration]]
NEW = "code that compiles today does so tomorrow"
ONLY_COMPILED_AGAIN = "apps compile as they are; libraries that were compiled with the old one must be compiled again"
OTHER_DEFAULT = "calls that leave it out compile, and get another value"
NEW_PARAMETER = "new optional parameter "
LABELLED = ("Dart", "Swift")
"""languages in which parameters with defaults may come before others, because calls name them"""
GIVEN = "Inputs"
"""end of the names of TypeScript's types of what apps pass to `run`"""
BINDING = frozenset(
    "abstract suspend async throws failable sealed inner static mutating MainActor JvmField JvmName".split()
)
TYPES = ("class", "interface", "object", "struct", "actor", "enum")


def changes(old: DeclaredPackage, new: DeclaredPackage) -> Iterator[Change]:
    where = new.language
    before, after = _grouped(old.declarations), _grouped(new.declarations)
    given = _given(old)
    gone = {path for path in before if path not in after}
    come = {path for path in after if path not in before}
    for path in before:
        if path in gone:
            if not _is_inside(path, gone):
                yield Change(
                    level=Level.MAJOR, where=where, change=f"{_named(before[path])} is gone", reason=_lost(path)
                )
            continue
        yield from _group(before[path], after[path], where, new.language, given)
    for path in after:
        if path in come and not _is_inside(path, come):
            yield from _added(after[path], where, given, before)


def _grouped(declared: Sequence[Declaration]) -> dict[str, list[Declaration]]:
    found: dict[str, list[Declaration]] = {}
    for each in declared:
        found.setdefault(each.path, []).append(each)
    return found


def _is_inside(path: str, others: set[str]) -> bool:
    """Whether a type that contains it is among `others`: it is said of that one."""
    parts = path.split(".")
    return any(".".join(parts[:count]) in others for count in range(1, len(parts)))


def _given(package: DeclaredPackage) -> frozenset[str]:
    """Types that apps make or implement themselves, because they pass them."""
    passed = {
        word
        for each in package.declarations
        for parameter in each.parameters
        for word in re.findall(r"\w+", parameter.type)
    }
    own = {each.name for each in package.declarations if each.kind == "interface" and not each.container}
    return frozenset(name for name in own if name in passed or name.endswith(GIVEN))


def _named(group: Sequence[Declaration]) -> str:
    first = group[0]
    return f"{first.kind} {_place(first)}"


def _place(declared: Declaration) -> str:
    return declared.container if declared.kind == "constructor" else declared.path


def _lost(path: str) -> str:
    return f"apps that use {path.rpartition('.')[2]} no longer compile"


def _group(
    before: Sequence[Declaration], after: Sequence[Declaration], where: str, language: str, given: frozenset[str]
) -> Iterator[Change]:
    """Compares all declarations of one name; functions may have several."""
    left = list(after)
    unmatched = []
    for each in before:
        if each in left:
            left.remove(each)
        else:
            unmatched.append(each)
    for each in unmatched:
        found = [_compared(each, other, where, language, given) for other in left]
        best = max(found, key=lambda change: ORDER.index(change.level), default=None)
        if best is None:
            yield Change(
                level=Level.MAJOR, where=where, change=f"{each.kind} {each.shown} is gone", reason=_lost(each.path)
            )
            continue
        left.pop(found.index(best))
        yield best
    for each in left:
        change = f"new {each.kind} {each.shown}"
        if "abstract" in each.traits:
            yield Change(level=Level.MAJOR, where=where, change=change, reason=_must_give(each))
        else:
            yield Change(level=Level.MINOR, where=where, change=change, reason=NEW)


def _compared(old: Declaration, new: Declaration, where: str, language: str, given: frozenset[str]) -> Change:
    """The heaviest difference between two declarations of one name."""
    problem = _incompatible(old, new, language, given)
    if problem:
        return Change(
            level=Level.MAJOR, where=where, change=f"{old.kind} {_place(old)}: {problem}", reason=_breaks(old)
        )
    extended = _extended(old, new)
    reason = OTHER_DEFAULT if extended.startswith("default of") else NEW
    if language == "Kotlin" and extended.startswith(NEW_PARAMETER):  # its signature in classes has all parameters
        reason = ONLY_COMPILED_AGAIN
    return Change(level=Level.MINOR, where=where, change=f"{old.kind} {_place(old)}: {extended}", reason=reason)


def _breaks(old: Declaration) -> str:
    verb = "call" if old.kind in ("function", "constructor") else "use"
    return f"apps that {verb} it must change"


def _incompatible(old: Declaration, new: Declaration, language: str, given: frozenset[str]) -> str:
    """The part that no longer fits, in words; empty if all uses of `old` compile with `new`."""
    if old.kind != new.kind:
        return f"is now {new.kind}"
    is_given = old.container in given
    if old.type != new.type and not _is_wider(old, new):
        return f"type {_short(old.type)} is now {_short(new.type)}"
    lost = {each for each in old.traits - new.traits if each != "optional"}
    won = {each for each in new.traits - old.traits if each != "optional"}
    if "optional" in old.traits and "optional" not in new.traits and is_given:
        return "must now be given"
    if "optional" in new.traits and "optional" not in old.traits and not is_given:
        return "may now be missing"
    if broken := sorted({each for each in lost if _is_promised(each)} | {each for each in won if _binds(each, old)}):
        return ", ".join(f"no longer {each}" if each in lost else f"now {each}" for each in broken)
    return _misfit(old.parameters, new.parameters, language)


def _is_promised(trait: str) -> bool:
    """Whether code can need a trait; the others only forbid it something."""
    return trait not in ("abstract", "MainActor")


def _binds(trait: str, declared: Declaration) -> bool:
    """Whether a new trait can end the compilation of code that used the declaration without it."""
    if trait.startswith("is "):  # types of apps that implement an interface must then be that, too
        return declared.kind == "interface"
    if trait == "mutable":  # and must then let it be set
        return "abstract" in declared.traits
    return trait.partition("(")[0] in BINDING


def _is_wider(old: Declaration, new: Declaration) -> bool:
    """Whether a type of several alternatives has only got more."""
    before, after = set(old.type.split(" | ")), set(new.type.split(" | "))
    return old.kind == "alias" and len(before) > 1 and before < after


def _misfit(old: Sequence[Parameter], new: Sequence[Parameter], language: str) -> str:
    """Why a call with the old parameters does not compile; empty if it does."""
    rest = list(new)
    for index, each in enumerate(old):
        match = next((other for other in rest if _is_same(each, other, language)), None)
        if match is None:
            other = new[index] if index < len(new) else None
            is_named = other is not None and other.label == each.label and each.label != "_"
            if other is not None and (is_named or len(old) == len(new)):
                return _changed(each, other)
            return f"parameter {_parameter(each)} is gone"
        if each.default and not match.default:
            return f"parameter {_parameter(match)} must now be given"
        before = rest[: rest.index(match)]
        if any(not other.default or language not in LABELLED or other.label == "_" for other in before):
            return "parameters are in another order" if any(other in old for other in before) else _needed(before[0])
        rest = rest[rest.index(match) + 1 :]
    needed = next((each for each in rest if not each.default), None)
    return _needed(needed) if needed else ""


def _is_same(old: Parameter, new: Parameter, language: str) -> bool:
    return old.type == new.type and (old.label == new.label or language == "TypeScript")


def _changed(old: Parameter, new: Parameter) -> str:
    if old.type != new.type:
        return f"parameter {_parameter(old)} is now {_parameter(new)}"
    return f"parameter {old.label} is now called {new.label}"


def _needed(parameter: Parameter) -> str:
    return f"new parameter {_parameter(parameter)}" + ("" if not parameter.default else " before others")


def _parameter(parameter: Parameter) -> str:
    kind = _short(parameter.type)
    return kind if parameter.label == "_" else f"{parameter.label}: {kind}"


def _extended(old: Declaration, new: Declaration) -> str:
    """The new part of a declaration that all uses of `old` fit."""
    known = {(each.label, each.type) for each in old.parameters}
    more = [each for each in new.parameters if (each.label, each.type) not in known]
    if more:
        return NEW_PARAMETER + ", ".join(_parameter(each) for each in more)
    pairs = zip(old.parameters, new.parameters, strict=False)
    for before, after in pairs:
        if before.default != after.default:
            now, earlier = (_short(each.default or "none") for each in (after, before))
            return f"default of {_parameter(after)} is {now}, was {earlier}"
    if old.type != new.type:
        return f"type is now {_short(new.type)}"
    return ", ".join(sorted(f"now {each}" for each in new.traits - old.traits)) or "takes more"


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:57]}..."


def _added(group: Sequence[Declaration], where: str, given: frozenset[str], before: Groups) -> Iterator[Change]:
    first = group[0]
    is_in_known = first.container in before
    must = "abstract" in first.traits or (first.container in given and "optional" not in first.traits)
    if is_in_known and must and first.kind not in TYPES:
        change = f"new {first.kind} {first.path}"
        yield Change(level=Level.MAJOR, where=where, change=change, reason=_must_give(first))
        return
    for each in group:
        yield Change(level=Level.MINOR, where=where, change=f"new {each.kind} {_place(each)}", reason=_why_minor(each))


def _must_give(declared: Declaration) -> str:
    return f"apps that make a {declared.container} of their own must give it"


def _why_minor(declared: Declaration) -> str:
    if declared.kind == "case":
        return "code that handles every case by name gets a warning or an error, other code compiles as it is"
    return NEW
