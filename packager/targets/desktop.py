"""Targets for servers, desktops and boards: ONNX Runtime's own build for the machine, and apps that choose providers at
load."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from packager.core.strict_tables import STRICT
from packager.core.values import Plan
from packager.engines.environments.runtime import Runtime, shipped_version
from packager.targets.target import Built, RuntimeRange, runtime_range


@dataclass(frozen=True, kw_only=True)
class Desktop:
    """The keys of such a target, and its part of `Target`."""

    NAME: ClassVar[str]
    VERIFIES: ClassVar[bool] = False
    DECRYPTS: ClassVar[bool] = False
    UPDATES: ClassVar[bool] = False
    VARIES: ClassVar[bool] = False
    COMMON: ClassVar[Mapping[str, str]] = {}
    __pydantic_config__: ClassVar[Mapping[str, object]] = STRICT

    variant: str = "source"
    """variant of the models to ship"""
    providers: tuple[()] = ()
    """always empty: apps choose providers at load, and the CPU is the last one"""
    format: Literal["auto", "ort", "onnx"] = "onnx"
    """`onnx`: the unmodified graph, which every provider reads and ONNX Runtime optimizes for the machine at load;
    `auto` and `ort`: ORT format, for the CPU alone"""
    prepacking: Literal["auto", "on", "off"] = "on"
    """whether the CPU prepacks weights at load: a second copy in memory, for runs that are faster; `auto` does where
    the target is `android`, `ios` or `web`"""
    float16: Literal["onnx", "float32"] = "onnx"
    """form of float16 models: with `onnx` the runtime, which has few kernels for 16 bits, converts them at load;
    `float32` ships 32 bits"""

    @property
    def soc_models(self) -> tuple[str, ...]:
        """Always empty: no file is for one chip."""
        return ()

    @property
    def environment(self) -> str:
        return Runtime.NAME

    @property
    def no_float64(self) -> str:
        """Always empty: ONNX Runtime for desktops has them."""
        return ""

    def allowed_runtimes(self) -> RuntimeRange | None:
        """The package installs the one release that it was checked with."""
        return None

    def outside(self) -> str:
        """mobpack makes the package by itself."""
        return ""

    def refuse_without_tools(self) -> None:
        """mobpack makes the package by itself."""

    def checked_runtime(self) -> str:
        """The release of ONNX Runtime that the package is checked with."""
        return shipped_version()

    def built_with(self, plans: tuple[Plan, ...], *, namespace: str, dependency: str = "") -> Built:
        return Built(
            target=self.NAME,
            plans=plans,
            providers=(),
            variant=self.variant,
            namespace=namespace,
            oldest_system="",
            runtime_version=self.checked_runtime(),
            dependency=dependency,
            own=None,
            runtime_range=self.allowed_runtimes(),
        )


@dataclass(frozen=True, kw_only=True)
class BringsRuntime(Desktop):
    """A target whose apps bring ONNX Runtime, in a release of their own."""

    runtime_range: str = ""
    """oldest minor version of ONNX Runtime that apps may bring, for example `1.27`: the build loads every file in each
    release from there on; default: the release that the package was checked with, or a newer one"""

    def __post_init__(self) -> None:
        """Raises SettingError for invalid values."""
        self.allowed_runtimes()

    def allowed_runtimes(self) -> RuntimeRange | None:
        """Raises SettingError for a range that cannot be proved."""
        return runtime_range(self.runtime_range, self.checked_runtime())

    def oldest_runtime(self) -> str:
        allowed = self.allowed_runtimes()
        return allowed.releases[0] if allowed else self.checked_runtime()
