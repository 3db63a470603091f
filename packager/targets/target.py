"""Interfaces of targets: a target turns compiled models into a package for one kind of app."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import Field, dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, TypeAlias, TypeVar, runtime_checkable

from packager.core.components import Parts
from packager.core.console import Announce, silent
from packager.core.errors import SettingError
from packager.core.findings import Report
from packager.core.tuned import Chips, Tunable, names_of
from packager.core.values import Artifact, Package, Plan, Sources
from packager.description import Language
from packager.engines.environments.release import releases
from packager.files.hashes import sha256_of
from packager.files.store import Store
from packager.targets.xcframework.packaged import PackagedFramework
from packager.vectors import NO_VECTORS, Golden

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler
    from pydantic_core import CoreSchema


@dataclass(frozen=True, kw_only=True)
class PackagedRuntime:
    """The user's own ONNX Runtime, which a package contains or depends on."""

    version: str
    """version of ONNX Runtime; for a dependency, that of its coordinates"""
    ship: Literal["inside", "maven", "dependency"]
    """inside the package, as an artifact beside it, or as a dependency from another repository"""
    coordinates: str
    """`group:artifact:version` that the package depends on; empty if the runtime is inside"""
    sha256: str = ""
    """sha256 of the user's file"""
    name: str = ""
    """name that replaced its own; empty if it was not renamed"""
    java_package: str = "ai.onnxruntime"
    abis: tuple[str, ...] = ()
    operators_sha256: str = ""
    """sha256 of the operator configuration; empty without one"""
    is_reduced: bool = False
    libraries: Mapping[PurePosixPath, Path]
    """by path in an .aar: `jni/arm64-v8a/libonnxruntime.so`"""
    classes: Path | None = None
    """jar of its classes"""
    rules: str = ""
    """the runtime's own R8 rules"""


@dataclass(frozen=True, kw_only=True)
class RuntimeRange:
    """Releases of ONNX Runtime that apps may bring. Files are proved to load in each of `releases`."""

    releases: tuple[str, ...]
    """the last of each minor version, the oldest first"""
    preferred: str
    """the release that an app gets which brings none"""

    @property
    def maven(self) -> str:
        """Maven's notation. It has no newest release: ONNX Runtime opens the files of older ones."""
        return f"[{self.releases[0]},2)"


def runtime_range(oldest: str, preferred: str) -> RuntimeRange | None:
    """The range that begins with the minor version `oldest`; None if that is empty. Raises SettingError for one that is
    unknown, or newer than `preferred`."""
    if not oldest:
        return None
    known = releases()
    minors = [release.rpartition(".")[0] for release in known]
    allowed = minors[: minors.index(preferred.rpartition(".")[0]) + 1]
    if oldest not in allowed:
        raise SettingError(
            f'runtime-range "{oldest}" is not a version that a range can begin with',
            hint=f"one of {', '.join(allowed)}",
        )
    return RuntimeRange(releases=known[minors.index(oldest) :], preferred=preferred)


def licenses_of(plans: Sequence[Plan]) -> dict[str, Path]:
    """The licences of models, by the names that their files have in packages."""
    models = (plan.model for plan in plans)
    return {model.license_name: model.license_file for model in models if model.license_file}


TOP = "*/"
"""beginning of a place in an archive: in its one top-level folder, or in `PAGES` there"""
PAGES = "web/"
"""folder in an archive with files for pages alone, which have the same names as those for devices"""
SBOM = PurePosixPath("sbom.cdx.json")
"""Place of the bill of materials in the sources of a package, by the name that CycloneDX recommends"""
OwnRuntime = PackagedRuntime | PackagedFramework
"""The user's own runtime for Android or for iOS."""


class DefaultProviders(tuple[str, ...]):
    """Providers of a target whose table names none: each gets files of a model only where it is worth them."""

    __slots__ = ()

    @classmethod
    def __get_pydantic_core_schema__(cls, source: object, handler: "GetCoreSchemaHandler") -> "CoreSchema":
        """The schema of a list of names: that of mobpack.toml prints the default."""
        return handler.generate_schema(tuple[str, ...])


class Planned(Protocol):
    """The part of a target that plans depend on. The fields of a target are the keys of its table in mobpack.toml."""

    NAME: ClassVar[str]
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    @property
    def variant(self) -> str:
        """Variant to ship."""
        ...

    @property
    def providers(self) -> tuple[str, ...]:
        """Providers of the models, in the order in which they are tried, without the CPU."""
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
    def soc_models(self) -> tuple[str, ...]:
        """Chips to compile QNN files for, by their Android names."""
        ...

    @property
    def environment(self) -> str:
        """Environment with the ONNX Runtime that its packages contain or depend on, of `SHIPPED` in
        packager/engines/environments: every file of a plan is proved to load there."""
        ...

    @property
    def no_float64(self) -> str:
        """Why that ONNX Runtime has no 64-bit floats, in words; empty if it has them."""
        ...

    def published_runtime(self) -> str:
        """The runtime that its packages depend on, in the platform's notation."""
        ...

    def allowed_runtimes(self) -> RuntimeRange | None:
        """Releases of that runtime that apps may bring instead; None for that one or newer ones."""
        ...

    def outside(self) -> str:
        """Tools of the machine that its packages depend on, in words; empty where mobpack's own make them."""
        ...

    def refuse_without_tools(self) -> None:
        """Raises ToolError if a tool that assembles its packages is missing on this machine."""
        ...


@dataclass(frozen=True, kw_only=True)
class Page:
    """A package for pages, for wrappers that put its files into their own."""

    sources: Sources
    modules: Mapping[str, tuple[PurePosixPath, str]]
    """by name of the model: the module that loads it, and what that exports for it"""


@dataclass(frozen=True, kw_only=True)
class Built:
    """Result of one target, for wrappers that include it."""

    target: str
    plans: tuple[Plan, ...]
    providers: tuple[str, ...]
    """providers of its table"""
    variant: str
    """variant that it ships"""
    namespace: str
    """namespace of its code: the Kotlin package, or the Swift module"""
    oldest_system: str
    """oldest system that its packages support: `24`, an API level, or `15.1`"""
    runtime_version: str
    """version of ONNX Runtime; empty if unknown"""
    dependency: str
    """the published ONNX Runtime in the platform's notation: Maven coordinates, or a pod and its version"""
    own: OwnRuntime | None
    """the runtime that replaces it"""
    runtime_range: RuntimeRange | None = None
    """releases of the published runtime that an app may bring instead of `runtime_version`; None for that one or
    newer ones"""
    page: Page | None = None
    """its package for pages; None of a target for anything else"""
    tuned: Chips = field(default_factory=dict)
    """settings by chip, of its table"""


@dataclass(frozen=True, kw_only=True)
class Shipped:
    """An artifact and its path in the release."""

    artifact: Artifact
    path: str
    """relative to the release's folder, in POSIX form"""


View = TypeVar("View")
GivenView = TypeVar("GivenView", contravariant=True)
GivenRuntime = TypeVar("GivenRuntime", contravariant=True)


class PrintedOf(Protocol[GivenView]):
    """Steps that targets and wrappers share: render a view, assemble the package."""

    NAME: ClassVar[str]
    LANGUAGE: ClassVar[Language]
    """language of its API"""
    REVISION: ClassVar[tuple[int, int]]
    """revision of the API that all its packages share, whatever their models: options, sources, errors, events, and the
    form of classes. The first number is raised when apps must change, the second when there is more"""
    MODELS_IN: ClassVar[Mapping[str, str]]
    """kind of artifact -> the folder in it with the files of models, between slashes; after `TOP` where it must lie in
    the archive's one folder, because code has folders of the same name"""
    VERIFIES: ClassVar[bool]
    """whether its code verifies signed lists of files (`[package] trust`)"""
    DECRYPTS: ClassVar[bool]
    """whether its code decrypts models (`[package] encryption`)"""
    UPDATES: ClassVar[bool]
    """whether its code takes models from a channel (`[package] channel`)"""
    VARIES: ClassVar[bool]
    """whether its code opens another variant of a model on some chips (`variant` in tuned settings)"""
    ABOUT: ClassVar[str]
    """kind of its packages, and the page about them, for comments in a project file"""
    COMMON: ClassVar[Mapping[str, str]]
    """lines of its table in a new project file -> comments; keys that a project may leave out are commented out"""
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    def render(self, view: GivenView) -> Sources:
        """The sources of the package."""
        ...

    def parts(self, view: GivenView) -> Parts:
        """The package and its libraries, for its bill of materials."""
        ...

    def project(self, view: GivenView, sources: Sources, store: Store) -> Sources:
        """The sources with the build files of the target's own build system."""
        ...

    def assemble(
        self, view: GivenView, sources: Sources, store: Store, announce: Announce = silent
    ) -> tuple[Artifact, ...]:
        """The finished package, with the bill of materials that is in `sources` at `SBOM`; long parts of the work are
        announced. Raises ToolError if a required tool is missing or fails."""
        ...

    def layout(self, view: GivenView, artifacts: Sequence[Artifact], dist: Path, sbom: str = "") -> list[Shipped]:
        """Copies the artifacts into the release folder `dist`, with what package managers need beside them, and returns
        their paths there. `sbom` is the bill of materials that a Maven repository publishes with a library."""
        ...


class TargetOf(Planned, PrintedOf[View], Protocol[View, GivenRuntime]):
    """A target that packages are built for. Its view holds the values of its templates."""

    def view(
        self,
        package: Package,
        plans: tuple[Plan, ...],
        report: Report,
        runtime: GivenRuntime | None = None,
        golden: Golden = NO_VECTORS,
    ) -> View:
        """The values of its templates, with `runtime`, the user's own, instead of the published one, and `golden`
        vectors for self-tests.

        Raises ModelError for a model that the target's API does not support.
        """
        ...

    def built(self, view: View, plans: tuple[Plan, ...]) -> Built:
        """The result for wrappers that include this target."""
        ...


class WrapperOf(PrintedOf[View], Protocol[View]):
    """A target without plans of its own: its packages include those of other targets."""

    NEEDS: ClassVar[tuple[str, ...]]
    """targets that it includes"""
    NEEDS_ALL: ClassVar[bool]
    """whether it includes each of `NEEDS`; if not, those that the project has a table for, or all if it has none"""
    ALSO: ClassVar[tuple[str, ...]]
    """targets that it includes where the project has a table for them"""

    def refuse(self, package: Package, runtimes: Mapping[str, OwnRuntime]) -> None:
        """Raises ConfigError for a package, or the user's own runtime for a target, that it cannot include."""
        ...

    def view(self, package: Package, built: Mapping[str, Built], report: Report, golden: Golden = NO_VECTORS) -> View:
        """The values of its templates. Raises ModelError for a model that its API does not support."""
        ...


Printed: TypeAlias = PrintedOf[Any]
Target: TypeAlias = TargetOf[Any, Any]
Wrapper: TypeAlias = WrapperOf[Any]
"""One of several, whose views differ."""


def target_of(kind: type[TargetOf[View, GivenRuntime]]) -> type[Target]:
    """`kind` itself: the type checker proves that its steps take the view that it makes."""
    return kind


def wrapper_of(kind: type[WrapperOf[View]]) -> type[Wrapper]:
    """`kind` itself, of a wrapper: see `target_of`."""
    return kind


@runtime_checkable
class InMaven(Protocol):
    """A target whose packages Maven repositories have."""

    group: str
    assembler: str


def variants_of(target: Planned, model: str = "") -> tuple[str, ...]:
    """The variants that packages of a target have, of one model or of all: the target's own first, then those that some
    chips open in its place."""
    chips = target.tuned if isinstance(target, Tunable) else {}
    own = {chip: {name: each for name, each in models.items() if model in ("", name)} for chip, models in chips.items()}
    return tuple(dict.fromkeys((target.variant, *names_of(own))))


def included(wrapper: type[Wrapper] | Wrapper, targets: Collection[str]) -> tuple[str, ...]:
    """The targets that packages of `wrapper` include in a project with `targets`."""
    chosen = tuple(name for name in wrapper.NEEDS if name in targets)
    needed = wrapper.NEEDS if wrapper.NEEDS_ALL or not chosen else chosen
    return (*needed, *(name for name in wrapper.ALSO if name in targets))


def artifact(path: Path, *, target: str, kind: str) -> Artifact:
    """Describes the finished file `path`."""
    return Artifact(target=target, kind=kind, path=path, sha256=sha256_of(path), size_bytes=path.stat().st_size)
