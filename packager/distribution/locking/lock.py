"""The content of a lock."""

from collections.abc import Mapping
from dataclasses import dataclass

LOCK = "mobpack.lock"
Facts = Mapping[str, str | int]
"""Facts about one thing: `version`, `origin`, `sha256`, `dir-hash` ..."""
Tables = Mapping[str, Mapping[str, Facts]]
"""Kind of thing -> its name -> facts."""
NO_TABLES: Tables = {}
DIR_HASH = "dir-hash"
"""Fact of a folder or a package of several files: in-toto's digest `dirHash`, the sha256 of a list with the sha256 and
the path of each file."""

BUILD, MACHINE, PYTHON, ENVIRONMENT, RUNTIME, PINNED, FILE = (
    "build",
    "machine",
    "python",
    "environment",
    "runtime",
    "pinned",
    "file",
)
ORDER = (BUILD, FILE, RUNTIME, ENVIRONMENT, PINNED, PYTHON, MACHINE)
"""Tables in the order of the file: the project's own things first."""
WORDS = {
    BUILD: "option",
    MACHINE: "machine",
    PYTHON: "Python package",
    ENVIRONMENT: "environment",
    RUNTIME: "runtime of",
    PINNED: "tool",
    FILE: "file",
}
"""Kind of thing in messages."""


@dataclass(frozen=True, kw_only=True)
class Lock:
    """Everything that a build reads."""

    tables: Tables
    not_locked: tuple[str, ...] = ()
    """what the build depends on besides, each in words"""

    @property
    def count(self) -> int:
        return sum(len(table) for table in self.tables.values())

    def facts(self, table: str, name: str) -> Facts:
        """Facts of one thing; empty if it is not in the lock."""
        return self.tables.get(table, {}).get(name, {})

    def values(self, table: str, prefix: str = "") -> tuple[str, ...]:
        """The `value` of each thing in `table` that has one and whose name begins with `prefix`, in order."""
        found = sorted(self.tables.get(table, {}).items())
        return tuple(str(facts["value"]) for name, facts in found if name.startswith(prefix) and "value" in facts)
