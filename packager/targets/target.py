"""What a target is: something that turns compiled models into a package for one kind of app."""

from collections.abc import Mapping
from dataclasses import Field, dataclass
from pathlib import Path, PurePosixPath
from typing import Any, ClassVar, Literal, Protocol

from packager.core.findings import Report
from packager.core.values import Artifact, Package, Plan, Sources
from packager.files.hashes import sha256_of
from packager.files.store import Store
from packager.vectors import NO_VECTORS, Golden
from packager.xcframework.packaged import PackagedFramework


@dataclass(frozen=True, kw_only=True)
class PackagedRuntime:
    """An ONNX Runtime of the user's own, as a package brings it along or depends on it."""

    version: str
    """ONNX Runtime's; of a dependency, the one in its coordinates"""
    ship: Literal["inside", "maven", "dependency"]
    """in the package, as an artifact beside it, or from a repository that is not ours"""
    coordinates: str
    """`group:artifact:version` that the package depends on; empty when the runtime is inside"""
    sha256: str = ""
    """of the user's file"""
    name: str = ""
    """that it was renamed with; empty when it has its own"""
    java_package: str = "ai.onnxruntime"
    abis: tuple[str, ...] = ()
    operators_sha256: str = ""
    """of the operator configuration; empty when nobody named one"""
    is_reduced: bool = False
    libraries: Mapping[PurePosixPath, Path]
    """by path in an .aar: `jni/arm64-v8a/libonnxruntime.so`"""
    classes: Path | None = None
    """a jar"""
    rules: str = ""
    """the runtime's own, for R8"""


OwnRuntime = PackagedRuntime | PackagedFramework
"""For Android, and for iOS."""


class Planned(Protocol):
    """What a plan is made for. The fields of a target are the keys of its table in mobpack.toml."""

    NAME: ClassVar[str]
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

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

    def outside(self) -> str:
        """Tools of the machine that its packages depend on, in words; empty where mobpack's own make them."""
        ...


@dataclass(frozen=True, kw_only=True)
class Built:
    """What one target has made of the models, for another that takes it in."""

    target: str
    plans: tuple[Plan, ...]
    providers: tuple[str, ...]
    """as in its table"""
    variant: str
    """the variant it ships"""
    namespace: str
    """of its code: the Kotlin package, or the Swift module"""
    oldest_system: str
    """that its packages run on: `24`, an API level, or `15.1`"""
    runtime_version: str
    """ONNX Runtime's; empty when nobody knows"""
    dependency: str
    """the published ONNX Runtime as the target's users name it: Maven coordinates, or a pod and its version"""
    own: OwnRuntime | None
    """the runtime that takes its place"""


class Printed(Protocol):
    """What has a view, and is made of the texts that its templates print."""

    NAME: ClassVar[str]
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    def render(self, view: Any) -> Sources:
        """The sources of the package."""
        ...

    def project(self, view: Any, sources: Sources) -> Sources:
        """The sources with the build files of the target's own build system around them."""
        ...

    def assemble(self, view: Any, sources: Sources, store: Store) -> tuple[Artifact, ...]:
        """The finished package. Raises ToolError when a tool it needs is missing or fails."""
        ...


class Target(Planned, Printed, Protocol):
    """What packages are built for. A view is whatever its templates need."""

    def view(
        self,
        package: Package,
        plans: tuple[Plan, ...],
        report: Report,
        runtime: Any = None,
        golden: Golden = NO_VECTORS,
    ) -> Any:
        """Everything its templates print, with `runtime`, its OwnRuntime, in the place of the published one and
        `golden` for models to test themselves on.

        Raises ModelError for a model that the target's API cannot carry.
        """
        ...

    def built(self, view: Any, plans: tuple[Plan, ...]) -> Built:
        """What a target is told that takes this one in."""
        ...


class Wrapper(Printed, Protocol):
    """A target without plans of its own: its packages hold what other targets made of the models."""

    NEEDS: ClassVar[tuple[str, ...]]
    """targets that it takes in"""

    def refuse(self, package: Package, runtimes: Mapping[str, OwnRuntime]) -> None:
        """Raises ConfigError for a package, or a runtime of the user's own for a target, that it cannot take in."""
        ...

    def view(self, package: Package, built: Mapping[str, Built], report: Report, golden: Golden = NO_VECTORS) -> Any:
        """Everything its templates print. Raises ModelError for a model that its API cannot carry."""
        ...


def artifact(path: Path, *, target: str, kind: str) -> Artifact:
    """The finished file `path` as a value."""
    return Artifact(target=target, kind=kind, path=path, sha256=sha256_of(path), size_bytes=path.stat().st_size)
