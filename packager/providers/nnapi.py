"""NNAPI: Android's own interface to accelerators, deprecated by Google since Android 15."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from packager.core.cost import Cost, Rates
from packager.core.values import GraphRequirements, Style, Traits
from packager.providers.provider import Start


@dataclass(frozen=True, kw_only=True)
class Nnapi:
    NAME: ClassVar[str] = "nnapi"
    EXECUTION_PROVIDER: ClassVar[str] = "NnapiExecutionProvider"
    REGISTERED_NAME: ClassVar[str] = "NNAPI"
    SUMMARY: ClassVar[str] = "Accelerators behind Android's Neural Networks API, which Google deprecated in Android 15."
    IS_ON_CORES: ClassVar[bool] = False
    START: ClassVar[Start] = Start(oldest_android=27, has_flags=True, is_rounding=True, exact_option="USE_FP16")
    BUILD_FLAGS: ClassVar[Mapping[str, str]] = {"android": "--use_nnapi"}
    IS_COMPILED_FOR_CHIPS: ClassVar[bool] = False
    CHIP_MAKERS: ClassVar[tuple[str, ...]] = ()
    ANDROID_RUNTIME: ClassVar[str] = "onnxruntime"
    ANDROID_CHECK: ClassVar[str] = "NNAPI provider, drivers of API level {api_level} that take all"
    HIDES_NODES: ClassVar[bool] = False
    COST: ClassVar[Cost | None] = Cost(
        cpu=Rates.even(10), own=Rates.even(3.7), call_ms=1, copy_gb_s=5, most=0.8, needs_sizes=True
    )
    """Like Core ML's costs, with calls of a driver in another process: nobody has published times. In no defaults."""
    TUNES: ClassVar[Mapping[str, tuple[str, ...]]] = {}

    use_fp16: bool = False
    """compute float models in 16 bits if the accelerator can"""
    use_nchw: bool = False
    """keep the channel dimension second; Android 10 and later, and slow on most devices"""
    cpu_disabled: bool = True
    """disable NNAPI's slow reference code: ONNX Runtime's own kernels are faster; Android 10 and later"""

    def options(self) -> Mapping[str, str]:
        """Names of ai.onnxruntime.providers.NNAPIFlags that are set."""
        flags = {"USE_FP16": self.use_fp16, "USE_NCHW": self.use_nchw, "CPU_DISABLED": self.cpu_disabled}
        return {name: "1" for name, is_set in flags.items() if is_set}

    def placement_options(self) -> Mapping[str, str]:
        return self.options()

    def requirements(self, traits: Traits) -> GraphRequirements:
        note = "NNAPI takes fixed shapes only: fix them in [model.NAME.shapes]" if traits.has_dynamic_shapes else ""
        return GraphRequirements(
            style=Style.UNFUSED,
            reason="it builds its own graph and knows none of the fused nodes",
            needs_unsigned=True,  # helper.cc, IsQuantizationZeroPointSupported and IsQuantizedIOSupported
            # It makes tensors of them without the path of the model: "model_path must not be empty".
            needs_parameters_inside=True,
            note=note,
        )
