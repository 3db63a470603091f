"""XNNPACK: fast kernels for the processor's own cores, on any device."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from packager.core.cost import Cost, Rates
from packager.core.values import GraphRequirements, Precision, Style, Traits
from packager.providers.provider import Start


@dataclass(frozen=True, kw_only=True)
class Xnnpack:
    NAME: ClassVar[str] = "xnnpack"
    EXECUTION_PROVIDER: ClassVar[str] = "XnnpackExecutionProvider"
    REGISTERED_NAME: ClassVar[str] = "XNNPACK"
    SUMMARY: ClassVar[str] = "XNNPACK's kernels for the processor's cores, on any device."
    IS_ON_CORES: ClassVar[bool] = True
    START: ClassVar[Start] = Start(threads_option="intra_op_num_threads")
    BUILD_FLAGS: ClassVar[Mapping[str, str]] = {"android": "--use_xnnpack", "ios": "--use_xnnpack"}
    IS_COMPILED_FOR_CHIPS: ClassVar[bool] = False
    CHIP_MAKERS: ClassVar[tuple[str, ...]] = ()
    ANDROID_RUNTIME: ClassVar[str] = "onnxruntime"
    ANDROID_CHECK: ClassVar[str] = "XNNPACK"
    HIDES_NODES: ClassVar[bool] = True
    COST: ClassVar[Cost | None] = Cost(
        cpu=Rates(depthwise=900, stem=200, narrow=600, pointwise=46, dense=46, product=25),
        own=Rates(depthwise=125, stem=90, narrow=1000, pointwise=43, dense=50, product=25),
        most=0.9,
        needs_sizes=False,
    )
    """Measured on x86_64 with one thread (benchmarks/results/xnnpack.md, "What a provider costs"); copies no values."""
    TUNES: ClassVar[Mapping[str, tuple[str, ...]]] = {}

    def options(self) -> Mapping[str, str]:
        """None: the only option, the number of threads, is the app's to choose."""
        return {}

    def placement_options(self) -> Mapping[str, str]:
        """None: there is nothing to set but threads."""
        return {}

    def requirements(self, traits: Traits) -> GraphRequirements:
        # xnnpack/detail/utils.cc and node_support_checker.cc: it matches Conv, not FusedConv, and for quantized
        # convolutions signed activations (QDQConv with uint8 weights must be per tensor).
        note = ""
        if traits.precision is Precision.QDQ and "uint8" in traits.activations.split("+"):
            note = "XNNPACK takes few operators with uint8 activations: quantize them to int8"
        elif traits.precision is Precision.QUANTIZED_OPERATORS:
            note = "XNNPACK knows no QLinear operators in a model: ship QuantizeLinear and DequantizeLinear"
        return GraphRequirements(
            style=Style.UNFUSED,
            reason="it takes Conv, not the FusedConv that the CPU's file holds",
            # Measured: "IExecutionProvider::Compile with FusedNodeAndGraph is not implemented by
            # XnnpackExecutionProvider" wherever it fuses Conv with an activation or its QuantizeLinear.
            refuses_ort="it fuses nodes itself, which ONNX Runtime does not let it do in an ORT-format file",
            note=note,
        )
