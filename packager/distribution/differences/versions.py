"""Semantic versioning: is a version number raised enough for what has changed?"""

import re

from packager.distribution.differences.values import Bump, Level

VERSION = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-([0-9A-Za-z.-]+))?(?:\+[0-9A-Za-z.-]+)?")
Key = tuple[int, int, int, bool, tuple[tuple[bool, int, str], ...]]


def bump(old: str, new: str, verdict: Level) -> Bump:
    """Below 1.0.0, where everything may change, a new minor version counts as a major one, and a patch as a minor."""
    before, after = _key(old), _key(new)
    if before is None or after is None:
        odd = old if before is None else new
        sentence = f"'{odd}' is not a version of semantic versioning (1.2.3), so {old} -> {new} promises nothing"
        return Bump(old=old, new=new, is_enough=False, needed="", sentence=sentence)
    needed = _needed(before, verdict)
    is_enough = after >= before if verdict is Level.NONE else after[:3] >= needed and after > before
    text = ".".join(map(str, needed)) if verdict is not Level.NONE else old
    if is_enough:
        sentence = f"both are {old}" if old == new else f"{old} -> {new} is enough"
    elif after == before:
        sentence = f"both are {old}: a published version does not change; use {text} or later"
    elif after < before:
        sentence = f"{new} is older than {old}: use {text} or later"
    else:
        sentence = f"{old} -> {new} is too small a step: use {text} or later"
    return Bump(old=old, new=new, is_enough=is_enough, needed=text, sentence=sentence)


def _needed(old: Key, verdict: Level) -> tuple[int, int, int]:
    major, minor, patch, is_final, _ = old
    if not is_final and verdict is not Level.NONE:
        return major, minor, patch  # 2.0.0-beta.1 -> 2.0.0-beta.2 or 2.0.0: nothing is promised yet
    if verdict is Level.MAJOR:
        return (major + 1, 0, 0) if major else (0, minor + 1, 0)
    if verdict is Level.MINOR and major:
        return major, minor + 1, 0
    return (major, minor, patch) if verdict is Level.NONE else (major, minor, patch + 1)


def _key(version: str) -> Key | None:
    """Sorts as semantic versioning 2.0.0 says in 11; None for another form."""
    found = VERSION.fullmatch(version)
    if not found:
        return None
    parts = (found[4] or "").split(".") if found[4] else []
    before = tuple((not each.isdigit(), int(each) if each.isdigit() else 0, each) for each in parts)
    return int(found[1]), int(found[2]), int(found[3]), not parts, before
