"""QNN: the neural processor of Qualcomm chips."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, kw_only=True)
class Qnn:
    NAME: ClassVar[str] = "qnn"

    backend: str = "libQnnHtp.so"
    """library of Qualcomm's that drives the processor"""
    performance_mode: str = "burst"
    """speed against power: `burst`, `balanced`, `power_saver` and seven more"""
    optimization_mode: int = 3
    """how hard the graph is optimized when it loads: 0 to 3"""
    is_fp16_allowed: bool = True
    """compute float models in 16 bits: the processor has no 32-bit floats"""

    def options(self) -> Mapping[str, str]:
        return {
            "backend_path": self.backend,
            "htp_performance_mode": self.performance_mode,
            "htp_graph_finalization_optimization_mode": str(self.optimization_mode),
            "enable_htp_fp16_precision": str(int(self.is_fp16_allowed)),
        }
