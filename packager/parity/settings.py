"""The `[parity]` table."""

from dataclasses import dataclass
from pathlib import Path

from packager.models.graphs import read_graph
from packager.models.traits import traits
from packager.values import Compiled, Numbers


@dataclass(frozen=True, kw_only=True)
class ParitySettings:
    runners: tuple[str, ...]
    require: tuple[str, ...]
    samples: Path | None
    random_samples: int
    seed: int
    tolerance: float
    """largest allowed error, as a share of the output's largest value"""


FLOAT32, FLOAT16, QUANTIZED = 1e-3, 1e-2, 5e-2


def default_tolerance(compiled: Compiled) -> float:
    """1e-3 where kernels differ in rounding alone, 1e-2 where they compute in 16 bits; 5e-2 where activations are
    quantized: a fused kernel may land one step of 256 away from the unfused ones, a few layers pass that on, and the
    range of the steps may be some times the largest value that a sample gives. A MatMul of quantized weights counts
    among them: ONNX Runtime makes it MatMulNBits, which quantizes what it multiplies them with (accuracy level 4).
    """
    graph = read_graph(compiled.variant.graph)
    numbers = traits(graph).numbers
    multiplies = any(node.op in ("MatMul", "MatMulNBits") for node in graph.all_nodes())
    if numbers in (Numbers.QDQ, Numbers.QUANTIZED_OPERATORS) or (numbers is Numbers.WEIGHT_ONLY and multiplies):
        return QUANTIZED
    return FLOAT16 if numbers is Numbers.FLOAT16 else FLOAT32
