"""Declarations of a package, as they are read from its sources."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """A parameter of a function or constructor."""

    label: str
    """name that a call may write; `_` for none"""
    type: str
    default: str = ""
    """expression or `?`; empty for a parameter that every call must pass"""


@dataclass(frozen=True, kw_only=True)
class Declaration:
    """A public declaration of a package's sources."""

    container: str
    """type that it is in, `Classifier.Input`; empty at the top"""
    name: str
    kind: str
    """`class`, `interface`, `function`, `constructor`, `property`, `case` ..."""
    parameters: tuple[Parameter, ...] = ()
    type: str = ""
    """of its value or result"""
    traits: frozenset[str] = frozenset()
    """`mutable`, `abstract`, `optional`, `suspend`, `is AutoCloseable` ..."""

    @property
    def path(self) -> str:
        return f"{self.container}.{self.name}" if self.container else self.name

    @property
    def shown(self) -> str:
        """One line for people."""
        if self.kind not in ("function", "constructor"):
            return self.path
        return f"{self.path}({', '.join(each.type for each in self.parameters)})"


@dataclass(frozen=True, kw_only=True)
class DeclaredPackage:
    """The declarations of a package."""

    language: str
    declarations: tuple[Declaration, ...]
