"""What a layer computes with."""

from dataclasses import dataclass
from typing import Literal

ActivationElement = Literal["int8", "uint8", "int16", "uint16"]
WeightElement = Literal["int8", "uint8"]
Scope = Literal["kernels", "all"]
"""Which operators without weights join in: those that the CPU has 8-bit kernels for, where all that they take is
quantized anyway; or all that a neural processor may know, so that nothing is left in float."""


@dataclass(frozen=True, kw_only=True)
class Scheme:
    weights: WeightElement = "int8"
    activations: ActivationElement | None = "int8"
    """None leaves activations in float: the weights alone get smaller"""
    is_per_channel: bool = True
    is_symmetric: bool = False
    """whether zero means zero in activations; weights of int8 always are symmetric"""

    @property
    def is_weight_only(self) -> bool:
        return self.activations is None
