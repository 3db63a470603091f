"""Planted faults: realistic mistakes in mobpack and its templates, each with the test that finds it.

The TOML files beside this list them, one table a fault. `python -m tests.nightly.planted [NAME...]` plants each fault,
or those of the names, rooms and languages given, in a worktree of the last commit, and runs its test there. It ends
with 1 if a test passes. The day's tests check that every fault still applies (`test_planted.py`).
"""

import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[3]
NIGHT = "nightly"
"""folder with tests that do not run at every change"""
LISTS = tuple(sorted(Path(__file__).parent.glob("*.toml")))


@dataclass(frozen=True, kw_only=True)
class Fault:
    """A mistake in one file, and the test that finds it."""

    language: str
    """name of the TOML file: `python`, or that of the template"""
    name: str
    room: str
    """folder of packager/, or the language of a template"""
    file: str
    """path from the root"""
    before: str
    """occurs once in the file"""
    after: str
    users: str
    """the effect on users, in one sentence"""
    test: str
    """base name of the test files: they find the fault by behaviour, not by comparing texts"""
    only: str = ""
    """pytest's -k for the tests that find it, to leave out slow ones"""

    def planted(self, text: str) -> str:
        """The content `text` of the file with the fault."""
        if (count := text.count(self.before)) != 1:
            raise ValueError(f"{self.name}: `before` occurs {count} times in {self.file}")
        return text.replace(self.before, self.after)

    def test_files(self, root: Path) -> list[str]:
        """Paths from `root` of the test files, in whichever folders they are, but for those of the night."""
        found = sorted((root / "tests").rglob(self.test))
        return [each.relative_to(root).as_posix() for each in found if NIGHT not in each.parts]


def faults() -> list[Fault]:
    """All lists, in the order of their names."""
    return [
        Fault(language=path.stem, **each)
        for path in LISTS
        for each in tomllib.loads(path.read_text(encoding="utf-8"))["fault"]
    ]
