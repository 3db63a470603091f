"""Packages of test models, each made once for the same code, and kept by content.

Tests of a package depend on mobpack's code through the package alone, so their passes are kept by its content: their
files are marked `by_content(of=[projects.ANDROID])` (tests/keys.py).
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from packager.files.hashes import sha256_of
from tests.keys import Tree, asked
from tests.toolchain import forks
from tests.toolchain.kept import kept

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, kw_only=True)
class Package:
    """A package of one target."""

    name: str
    make: Callable[[Path], None]
    """puts its files into an empty folder: one, or those of a Swift package and of its runtime"""
    maker: Path
    """the module with `make`"""

    def digest(self) -> str:
        """SHA-256 of the names and contents of its files."""
        found = [f"{path.name} {sha256_of(path)}" for path in sorted(self._made().iterdir())]
        return hashlib.sha256("\n".join(found).encode()).hexdigest()

    def archive(self) -> Path:
        """Its only file. Nobody may write to it."""
        [archive] = self.folder().iterdir()
        return archive

    def folder(self) -> Path:
        """The folder with its files. Nobody may write to them."""
        asked(self)
        return self._made()

    def _made(self) -> Path:
        tree = Tree(ROOT)
        with forks.forking():
            return kept(f"package-{self.name}", self.make, tree.key(tree.program(self.maker)))
