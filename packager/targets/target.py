"""What a target is: something that turns compiled models into a package for one kind of app."""

from dataclasses import Field
from typing import Any, ClassVar, Protocol

from packager.store import Store
from packager.values import Artifact, Package, Plan, Report, Sources


class Target(Protocol):
    """Its fields are the keys of its table in mobpack.toml. A view is whatever its templates need."""

    NAME: ClassVar[str]
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]
    NEEDS: ClassVar[tuple[str, ...]]
    """targets whose artifacts this one takes in"""

    IS_PACKAGED: ClassVar[bool]
    """False for one that can be planned and checked, but not built yet"""

    @property
    def variant(self) -> str:
        """The variant it ships."""
        ...

    @property
    def providers(self) -> tuple[str, ...]:
        """What runs its models, in the order in which they are tried, without the CPU."""
        ...

    @property
    def format(self) -> str:
        """`auto`, `ort` or `onnx`."""
        ...

    @property
    def prepacking(self) -> str:
        """`auto`, `on` or `off`."""
        ...

    @property
    def float16(self) -> str:
        """`native`, `onnx` or `float32`."""
        ...

    @property
    def float16_fallback(self) -> str:
        """`onnx` or `float32`."""
        ...

    @property
    def soc_models(self) -> tuple[str, ...]:
        """Chips that QNN files are compiled for, as Android names them."""
        ...

    def runtime(self) -> str:
        """The runtime that its packages depend on, as its users name it."""
        ...

    def view(self, package: Package, plans: tuple[Plan, ...], report: Report) -> Any:
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
