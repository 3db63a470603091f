"""The CPU: ONNX Runtime's own kernels. It runs every model, so it is in every package and tried last."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from packager.core.cost import Cost
from packager.core.values import GraphRequirements, Precision, Style, Traits
from packager.providers.provider import Start


@dataclass(frozen=True, kw_only=True)
class Cpu:
    NAME: ClassVar[str] = "cpu"
    EXECUTION_PROVIDER: ClassVar[str] = "CPUExecutionProvider"
    REGISTERED_NAME: ClassVar[str] = "CPU"
    SUMMARY: ClassVar[str] = "ONNX Runtime's own kernels, which run every model: they are tried last."
    IS_ON_CORES: ClassVar[bool] = True
    START: ClassVar[Start] = Start()
    BUILD_FLAGS: ClassVar[Mapping[str, str]] = {}
    IS_COMPILED_FOR_CHIPS: ClassVar[bool] = False
    CHIP_MAKERS: ClassVar[tuple[str, ...]] = ()
    ANDROID_RUNTIME: ClassVar[str] = "onnxruntime"
    ANDROID_CHECK: ClassVar[str] = ""
    HIDES_NODES: ClassVar[bool] = False
    COST: ClassVar[Cost | None] = None
    """None: other providers are compared with the CPU."""
    TUNES: ClassVar[Mapping[str, tuple[str, ...]]] = {}

    def options(self) -> Mapping[str, str]:
        """None: the app chooses the number of threads."""
        return {}

    def placement_options(self) -> Mapping[str, str]:
        """None: it takes every node."""
        return {}

    def requirements(self, traits: Traits) -> GraphRequirements:
        note = ""
        if traits.precision is Precision.QDQ and "uint16" in traits.activations.split("+"):
            note = "the CPU has no kernels for 16-bit activations: it computes them in float"
        return GraphRequirements(
            style=Style.FIXED, reason="every fusion that its ARM kernels know is in the file", note=note
        )
