"""The execution providers that onnxruntime-node has on some system: apps choose them at load."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from packager.providers import CPU, PROVIDERS, providers_of
from packager.providers.provider import Described, Start
from packager.targets.typescript.view import OptionView, ProviderView


@dataclass(frozen=True)
class Cuda:
    NAME: ClassVar[str] = "cuda"
    EXECUTION_PROVIDER: ClassVar[str] = "CUDAExecutionProvider"
    REGISTERED_NAME: ClassVar[str] = "CUDA"
    SUMMARY: ClassVar[str] = "NVIDIA's graphics processors, on Linux."
    IS_ON_CORES: ClassVar[bool] = False
    START: ClassVar[Start] = Start()
    HIDES_NODES: ClassVar[bool] = False

    def placement_options(self) -> Mapping[str, str]:
        return {}


@dataclass(frozen=True)
class DirectMl:
    NAME: ClassVar[str] = "dml"
    EXECUTION_PROVIDER: ClassVar[str] = "DmlExecutionProvider"
    REGISTERED_NAME: ClassVar[str] = "DML"
    SUMMARY: ClassVar[str] = "DirectML: the graphics processor, on Windows."
    IS_ON_CORES: ClassVar[bool] = False
    START: ClassVar[Start] = Start()
    HIDES_NODES: ClassVar[bool] = False

    def placement_options(self) -> Mapping[str, str]:
        return {}


OFFERED: tuple[type[Described], ...] = (Cuda, DirectMl, *(PROVIDERS[name] for name in providers_of("node")))
"""without the CPU"""
ALL: tuple[type[Described], ...] = (*OFFERED, type(CPU))


def offered() -> tuple[ProviderView, ...]:
    """The facts that a package has. onnxruntime-node refuses or ignores most options: those that decide about nodes are
    left."""
    return tuple(
        ProviderView(
            name=each.NAME,
            registered_name=each.REGISTERED_NAME,
            execution_provider=each.EXECUTION_PROVIDER,
            hides_nodes=each.HIDES_NODES,
            options=tuple(OptionView(key=key, value=value) for key, value in each().placement_options().items()),
        )
        for each in OFFERED
    )
