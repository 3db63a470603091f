"""The `[parity]` table."""

from dataclasses import dataclass
from pathlib import Path

from packager.values import Model


@dataclass(frozen=True, kw_only=True)
class ParitySettings:
    runners: tuple[str, ...]
    require: tuple[str, ...]
    samples: Path | None
    random_samples: int
    seed: int
    tolerance: float
    """largest allowed error, as a share of the output's largest value"""


def default_tolerance(model: Model) -> float:
    """1e-3 where kernels differ in rounding alone; 2e-2 where activations are quantized.

    There a fused kernel may land one step of 256 away from the unfused ones, and a few layers pass that on.
    """
    is_quantized = any(op == "QuantizeLinear" or op.split("::")[-1].startswith("QLinear") for op in model.operators)
    return 2e-2 if is_quantized else 1e-3
