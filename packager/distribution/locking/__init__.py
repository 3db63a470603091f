"""`mobpack.lock`: everything that a project is built from, by version, origin and sha256, and how two locks differ."""

from packager.distribution.locking.changes import LockChange, compare
from packager.distribution.locking.lock import LOCK, NO_TABLES, Facts, Lock, Tables
from packager.distribution.locking.text import read, write

__all__ = ["LOCK", "NO_TABLES", "Facts", "Lock", "LockChange", "Tables", "compare", "read", "write"]
