"""Ways to make a variant of a model. To add one: a file and a line here."""

from collections.abc import Mapping

from packager.quantizers.auto import Auto
from packager.quantizers.dequantized import Dequantized
from packager.quantizers.dynamic import Dynamic
from packager.quantizers.float16 import Float16
from packager.quantizers.none import NoQuantizer
from packager.quantizers.quantizer import Calibrated, Calibration, Quantizer
from packager.quantizers.static_qdq import StaticQdq
from packager.quantizers.unsigned import Unsigned
from packager.quantizers.weight_only import WeightOnly

Recipe = Quantizer | Auto
"""A quantizer, or the budget for which to search one."""

REWRITES: Mapping[str, type[Quantizer]] = {Dequantized.NAME: Dequantized, Unsigned.NAME: Unsigned}
"""Quantizers that plans also use, for the graph of a provider."""

QUANTIZERS: Mapping[str, type[Recipe]] = {
    NoQuantizer.NAME: NoQuantizer,
    StaticQdq.NAME: StaticQdq,
    Auto.NAME: Auto,
    Dynamic.NAME: Dynamic,
    WeightOnly.NAME: WeightOnly,
    Float16.NAME: Float16,
    **REWRITES,
}

__all__ = [
    "QUANTIZERS",
    "REWRITES",
    "Auto",
    "Calibrated",
    "Calibration",
    "NoQuantizer",
    "Quantizer",
    "Recipe",
    "StaticQdq",
    "WeightOnly",
]
