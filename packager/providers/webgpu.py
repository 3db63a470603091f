"""WebGPU: the graphics processor, through Vulkan."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from packager.core.cost import Cost, Rates
from packager.core.values import GraphRequirements, Style, Traits
from packager.providers.provider import Start


@dataclass(frozen=True, kw_only=True)
class Webgpu:
    NAME: ClassVar[str] = "webgpu"
    EXECUTION_PROVIDER: ClassVar[str] = "WebGpuExecutionProvider"
    REGISTERED_NAME: ClassVar[str] = "WebGPU"
    SUMMARY: ClassVar[str] = "The graphics processor, through WebGPU."
    IS_ON_CORES: ClassVar[bool] = False
    START: ClassVar[Start] = Start(java_method="addWebGPU", browser_interface="gpu")
    BUILD_FLAGS: ClassVar[Mapping[str, str]] = dict.fromkeys(("android", "web", "node"), "--use_webgpu")
    IS_COMPILED_FOR_CHIPS: ClassVar[bool] = False
    CHIP_MAKERS: ClassVar[tuple[str, ...]] = ()
    ANDROID_RUNTIME: ClassVar[str] = "onnxruntime"
    ANDROID_CHECK: ClassVar[str] = ""
    HIDES_NODES: ClassVar[bool] = True
    COST: ClassVar[Cost | None] = Cost(
        cpu=Rates.even(10), own=Rates.even(3.7), call_ms=0.5, node_ms=0.05, copy_gb_s=5, most=0.8, needs_sizes=False
    )
    """Like Core ML's costs, with 24 to 71 µs for each kernel (arXiv 2604.02344). It is in no defaults."""
    TUNES: ClassVar[Mapping[str, tuple[str, ...]]] = {"preferredLayout": ("NCHW", "NHWC")}

    preferred_layout: str = "NCHW"
    """layout of images on the processor: `NHWC`, ONNX Runtime's own default, or `NCHW`. With NHWC a Conv of 129
    channels gives other numbers: those of Silero VAD are off by a third of the largest one (ONNX Runtime 1.30.0 for the
    web in Chromium 153 and the plug-in 0.4.0 on Mesa's lavapipe; `tests/nightly/test_provider_traps.py`)"""

    def options(self) -> Mapping[str, str]:
        return {"preferredLayout": self.preferred_layout}

    def placement_options(self) -> Mapping[str, str]:
        return self.options()

    def requirements(self, traits: Traits) -> GraphRequirements:
        return GraphRequirements(
            style=Style.UNFUSED,
            reason="the CPU's fused nodes have no kernels on a graphics processor",
            cpu_nodes_key="ep.webgpuexecutionprovider.forceCpuNodeNames",
        )
