"""Differences between two locks, in words."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from packager.distribution.locking.lock import NO_TABLES, ORDER, WORDS, Facts, Lock

SHOWN_DIGITS = 16
"""Digits of a hash in messages."""
HASH_DIGITS = 64
NO_LOCK = Lock(tables=NO_TABLES)


@dataclass(frozen=True, kw_only=True)
class LockChange:
    """One thing that two locks say different things about."""

    kind: Literal["added", "changed", "removed"]
    table: str
    name: str
    old: Facts
    """empty for an added one"""
    new: Facts
    """empty for a removed one"""

    @property
    def thing(self) -> str:
        """`file net.onnx`"""
        return f"{WORDS[self.table]} {self.name}"

    @property
    def before(self) -> str:
        """The old facts that differ, in words."""
        return _words(self.old, self.new)

    @property
    def now(self) -> str:
        """The new facts that differ, in words."""
        return _words(self.new, self.old)

    @property
    def pinned(self) -> str:
        """The version that was locked, as pip takes it: `pillow==13.0.0`."""
        return str(self.old.get("origin", self.name)).removeprefix("pypi:").replace("@", "==")

    @property
    def sentence(self) -> str:
        """`file net.onnx: sha256 0123, locked is sha256 4567`"""
        if self.kind == "added":
            return f"{self.thing} is not in the lock ({self.now})"
        if self.kind == "removed":
            return f"{self.thing} is in the lock ({self.before}), and the build does not use it"
        return f"{self.thing}: {self.now}, locked is {self.before}"

    @property
    def history(self) -> str:
        """The change as one in time: `file net.onnx: sha256 4567 then, sha256 0123 here`."""
        if self.kind == "added":
            return f"{self.thing} was not used then ({self.now} here)"
        if self.kind == "removed":
            return f"{self.thing} was used then ({self.before}), and is not here"
        return f"{self.thing}: {self.before} then, {self.now} here"


def compare(old: Lock, new: Lock) -> tuple[LockChange, ...]:
    """Changes from `old` to `new`, in the order of the file."""
    return tuple(_changes(old, new))


def _changes(old: Lock, new: Lock) -> Iterator[LockChange]:
    for table in ORDER:
        before, now = old.tables.get(table, {}), new.tables.get(table, {})
        for name in sorted(before.keys() | now.keys()):
            if before.get(name) != now.get(name):
                kind: Literal["added", "changed", "removed"] = "changed"
                if name not in before or name not in now:
                    kind = "removed" if name in before else "added"
                yield LockChange(kind=kind, table=table, name=name, old=before.get(name, {}), new=now.get(name, {}))


def _words(facts: Facts, other: Facts) -> str:
    """Facts that differ from `other`, or all of them if `other` has none of these keys; hashes are cut."""
    keys = [key for key in facts if facts[key] != other.get(key)]
    return ", ".join(_fact(key, facts[key]) for key in keys) or "nothing"


def _fact(key: str, value: str | int) -> str:
    text = str(value)
    if len(text) == HASH_DIGITS:
        text = text[:SHOWN_DIGITS]
    return text if key == "value" else f"{key.replace('-bytes', '')} {text}"
