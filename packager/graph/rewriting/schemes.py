"""Precision of a layer."""

from dataclasses import dataclass
from typing import Literal

ActivationElement = Literal["int8", "uint8", "int16", "uint16"]
WeightElement = Literal["int8", "uint8"]
Scope = Literal["kernels", "all"]
"""Operators without weights that are quantized: those for which the CPU has 8-bit kernels, if all their inputs are
quantized anyway; or all that a neural processor may support, so that nothing is left in float."""


@dataclass(frozen=True, kw_only=True)
class Scheme:
    weights: WeightElement = "int8"
    activations: ActivationElement | None = "int8"
    """None leaves activations in float and quantizes only the weights"""
    is_per_channel: bool = True
    is_symmetric: bool = False
    """whether the zero point of activations is zero; int8 weights are always symmetric"""

    @property
    def is_weight_only(self) -> bool:
        return self.activations is None
