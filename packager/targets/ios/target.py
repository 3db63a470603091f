"""iOS as a target: what CoreML gets of a model. `mobpack check` judges it; packages for it are not built yet."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from packager import tools
from packager.errors import nearest
from packager.providers import PROVIDERS
from packager.tables import STRICT

KNOWN = ("coreml", "xnnpack")


@dataclass(frozen=True, kw_only=True)
class Ios:
    NAME: ClassVar[str] = "ios"
    NEEDS: ClassVar[tuple[str, ...]] = ()
    IS_PACKAGED: ClassVar[bool] = False
    __pydantic_config__: ClassVar[Mapping[str, object]] = STRICT

    variant: str = "source"
    """which variant of the models ships"""
    providers: tuple[str, ...] = ("coreml",)
    """what runs the models, tried in this order; the CPU is always the last"""
    format: Literal["auto", "ort", "onnx"] = "auto"
    """`auto`: ORT format for the CPU, an ONNX graph over the same weights for the providers; `ort`: nothing but ORT
    format, as reduced runtimes need; `onnx`: the graph as it is, which the runtime rewrites at every load"""
    prepacking: Literal["auto", "on", "off"] = "auto"
    """whether the CPU packs weights when it loads: a second copy and ten times the loading time, for runs that are some
    15 % faster; `auto` packs unless the model ships as ONNX alone"""
    float16: Literal["native", "onnx", "float32"] = "native"
    """how float16 models ship: `native` for phones that compute in 16 bits; as `onnx`, each phone decides; `float32`"""
    float16_fallback: Literal["onnx", "float32"] = "onnx"
    """what ships instead of `native` where mobpack cannot convert for ARM"""

    def __post_init__(self) -> None:
        """Raises ValueError for providers that iOS does not have: what is wrong, `|`, what to do."""
        for provider in self.providers:
            if provider in KNOWN:
                continue
            hint = "leave it out: the CPU is always tried last" if provider == "cpu" else nearest(provider, KNOWN)
            what = (
                f"provider '{provider}' does not run on iOS"
                if provider in PROVIDERS
                else f"unknown provider '{provider}'"
            )
            raise ValueError(f"{what}|{hint}")

    @property
    def soc_models(self) -> tuple[str, ...]:
        """CoreML compiles on the device."""
        return ()

    def runtime(self) -> str:
        return str(tools.pins()["ios"]["onnxruntime"])
