"""QNN: the neural processor of Qualcomm chips."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from packager.core.cost import Cost, Rates
from packager.core.values import GraphRequirements, Precision, Style, Traits
from packager.providers.provider import Start


@dataclass(frozen=True, kw_only=True)
class Qnn:
    NAME: ClassVar[str] = "qnn"
    EXECUTION_PROVIDER: ClassVar[str] = "QNNExecutionProvider"
    REGISTERED_NAME: ClassVar[str] = "QNN"
    SUMMARY: ClassVar[str] = "The neural processor of Qualcomm chips, on devices that have one."
    IS_ON_CORES: ClassVar[bool] = False
    START: ClassVar[Start] = Start(libraries_variable="ADSP_LIBRARY_PATH", is_rounding=True)
    """There the neural processor finds the files that Qualcomm's libraries open for it. It has no 32-bit floats."""
    BUILD_FLAGS: ClassVar[Mapping[str, str]] = {"android": ""}
    IS_COMPILED_FOR_CHIPS: ClassVar[bool] = True
    CHIP_MAKERS: ClassVar[tuple[str, ...]] = ("QTI", "Qualcomm")
    ANDROID_RUNTIME: ClassVar[str] = "onnxruntime-qnn"
    ANDROID_CHECK: ClassVar[str] = ""
    HIDES_NODES: ClassVar[bool] = False
    COST: ClassVar[Cost | None] = Cost(
        cpu=Rates.even(10), own=Rates.even(3.7), call_ms=1, copy_gb_s=5, most=0.8, needs_sizes=True
    )
    """Like Core ML's costs, with calls of "a few hundred µs" to several ms (Qualcomm's Hexagon SDK). In no defaults."""
    TUNES: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "htp_performance_mode": ("sustained_high_performance", "high_performance", "balanced"),
        "htp_graph_finalization_optimization_mode": ("1",),
    }

    backend: str = "libQnnHtp.so"
    """Qualcomm's library that drives the processor"""
    performance_mode: str = "burst"
    """trade-off between speed and power: `burst`, `balanced`, `power_saver` and seven more"""
    optimization_mode: int = 3
    """optimization level when the graph is loaded: 0 to 3"""
    is_fp16_allowed: bool = True
    """compute float models in 16 bits: the processor has no 32-bit floats"""

    def options(self) -> Mapping[str, str]:
        return {
            "backend_path": self.backend,
            "htp_performance_mode": self.performance_mode,
            "htp_graph_finalization_optimization_mode": str(self.optimization_mode),
            "enable_htp_fp16_precision": str(int(self.is_fp16_allowed)),
        }

    def placement_options(self) -> Mapping[str, str]:
        """None: the simulator decides by the graph alone."""
        return {}

    def requirements(self, traits: Traits) -> GraphRequirements:
        note = ""
        if traits.precision in (Precision.FLOAT32, Precision.WEIGHT_ONLY):
            note = (
                "the Hexagon processor computes floats in 16 bits and slowly: quantize to uint8 or uint16 activations"
            )
        elif traits.precision is Precision.QUANTIZED_OPERATORS:
            note = "QNN reads QuantizeLinear and DequantizeLinear, not QLinear operators"
        return GraphRequirements(
            style=Style.UNFUSED,
            reason="it takes QuantizeLinear and DequantizeLinear in pairs",
            # Measured with plug-in 2.7.0: with int8 activations it leaves operators that it takes with uint8 ones,
            # which splits the graph.
            needs_unsigned=True,
            note=note,
        )
