"""What a target is: something that turns compiled models into a package for one kind of app."""

from typing import Any, ClassVar, Protocol

from packager.store import Store
from packager.values import Artifact, Compiled, Package, Report, Sources


class Target(Protocol):
    """Its fields are the keys of its table in mobpack.toml. A view is whatever its templates need."""

    NAME: ClassVar[str]
    NEEDS: ClassVar[tuple[str, ...]]
    """targets whose artifacts this one takes in"""

    @property
    def variant(self) -> str:
        """The variant it ships."""
        ...

    def runtime(self) -> str:
        """The runtime that its packages depend on, as its users name it."""
        ...

    def view(self, package: Package, compiled: tuple[Compiled, ...], report: Report) -> Any:
        """Everything its templates print. Raises ModelError for a model that the target's API cannot carry."""
        ...

    def render(self, view: Any) -> Sources:
        """The sources of the package."""
        ...

    def project(self, view: Any, sources: Sources) -> Sources:
        """The sources with the build files of the target's own build system around them."""
        ...

    def assemble(self, view: Any, sources: Sources, store: Store) -> tuple[Artifact, ...]:
        """The finished package. Raises ToolError when a tool it needs is missing or fails."""
        ...
