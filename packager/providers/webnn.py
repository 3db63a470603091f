"""WebNN: the neural network interface of browsers, which runs on whatever the system has."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from packager.core.cost import Cost
from packager.core.values import GraphRequirements, Style, Traits
from packager.providers.provider import Start


@dataclass(frozen=True, kw_only=True)
class Webnn:
    NAME: ClassVar[str] = "webnn"
    EXECUTION_PROVIDER: ClassVar[str] = "WebNNExecutionProvider"
    REGISTERED_NAME: ClassVar[str] = "WebNN"
    SUMMARY: ClassVar[str] = "Whatever the browser's neural network interface, WebNN, runs on."
    IS_ON_CORES: ClassVar[bool] = False
    START: ClassVar[Start] = Start(browser_interface="ml")
    BUILD_FLAGS: ClassVar[Mapping[str, str]] = {"web": "--use_webnn"}
    IS_COMPILED_FOR_CHIPS: ClassVar[bool] = False
    CHIP_MAKERS: ClassVar[tuple[str, ...]] = ()
    ANDROID_RUNTIME: ClassVar[str] = ""
    ANDROID_CHECK: ClassVar[str] = ""
    HIDES_NODES: ClassVar[bool] = False
    COST: ClassVar[Cost | None] = None
    """Unknown: it runs on whatever the system has."""
    TUNES: ClassVar[Mapping[str, tuple[str, ...]]] = {}

    device_type: Literal["cpu", "gpu", "npu"] = "gpu"
    """processor that the browser is asked for"""

    def options(self) -> Mapping[str, str]:
        return {"deviceType": self.device_type}

    def placement_options(self) -> Mapping[str, str]:
        return self.options()

    def requirements(self, traits: Traits) -> GraphRequirements:
        return GraphRequirements(style=Style.UNFUSED, reason="it takes ONNX's own operators, not fused ones")
