"""Packages of test models, each made once for the same code of mobpack and of the tests."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.toolchain.kept import kept, product


@dataclass(frozen=True, kw_only=True)
class Package:
    """A package of one target."""

    name: str
    make: Callable[[Path], None]
    """puts its files into an empty folder: one, or those of a Swift package and of its runtime"""

    def archive(self) -> Path:
        """Its only file. Nobody may write to it."""
        [archive] = self.folder().iterdir()
        return archive

    def folder(self) -> Path:
        """The folder with its files. Nobody may write to them."""
        return kept(f"package-{self.name}", self.make, product())
