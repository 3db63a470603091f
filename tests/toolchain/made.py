"""Packages of test models, each made once for the same code, and kept by content.

Tests of a package depend on mobpack's code through the package alone, so their passes are kept by its content: their
files are marked `by_content(of=[projects.ANDROID])` (tests/keys.py).
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from packager.files.hashes import sha256_of
from tests.keys import Tree
from tests.toolchain.kept import kept

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, kw_only=True)
class Package:
    """A package of one target."""

    name: str
    make: Callable[[Path], None]
    """puts it into an empty folder, as the only file there"""
    maker: Path
    """the module with `make`"""

    def digest(self) -> str:
        return sha256_of(self.archive())

    def archive(self) -> Path:
        """Its file. Nobody may write to it."""
        tree = Tree(ROOT)
        [archive] = kept(f"package-{self.name}", self.make, tree.key(tree.program(self.maker))).iterdir()
        return archive
