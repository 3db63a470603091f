"""How long a run takes on a provider and on the CPU, as far as a graph alone tells.

Providers state their rates (`packager/providers/`), `verification/partition/estimating.py` applies them to a graph, and
`verification/partition/weighing.py` decides.
"""

from dataclasses import dataclass
from enum import StrEnum

NARROWEST = 16
"""Convolutions with fewer outputs in a group leave the vectors of their kernels unfilled."""


class LayerKind(StrEnum):
    """Kinds of layers, which take different times for the same number of MACs."""

    DEPTHWISE = "depthwise convolutions"
    NARROW = f"convolutions with fewer than {NARROWEST} outputs"
    STEM = "convolutions of fewer than 8 channels"
    POINTWISE = "1x1 convolutions"
    DENSE = "convolutions of many channels"
    PRODUCT = "products of matrices"


@dataclass(frozen=True, kw_only=True)
class LayerCost:
    """The work of one node."""

    kind: LayerKind
    macs: int
    outputs: int = 1
    """of a convolution, in each group"""


@dataclass(frozen=True, kw_only=True)
class Rates:
    """Nanoseconds that 1000 MACs take, by the kind of the layer."""

    depthwise: float
    stem: float
    pointwise: float
    dense: float
    product: float
    narrow: float | None = None
    """of a layer with one output; with n outputs each MAC takes an n-th. None if such layers are as fast as others"""

    @classmethod
    def even(cls, rate: float) -> "Rates":
        """One rate for every kind of layer."""
        return cls(depthwise=rate, stem=rate, pointwise=rate, dense=rate, product=rate)

    def ms(self, layer: LayerCost) -> float:
        if layer.kind is LayerKind.NARROW:
            rate = self.dense if self.narrow is None else self.narrow / layer.outputs
        else:
            rate = {
                LayerKind.DEPTHWISE: self.depthwise,
                LayerKind.STEM: self.stem,
                LayerKind.POINTWISE: self.pointwise,
                LayerKind.DENSE: self.dense,
                LayerKind.PRODUCT: self.product,
            }[layer.kind]
        return layer.macs * rate / 1e9


@dataclass(frozen=True, kw_only=True)
class Cost:
    """Times that a run on a provider takes, and when they are worth it."""

    cpu: Rates
    """of the processor that runs what the provider leaves"""
    own: Rates
    call_ms: float = 0.0
    """of each partition, in each run"""
    node_ms: float = 0.0
    """of each node that it takes"""
    copy_gb_s: float | None = None
    """speed at which values cross a border; None if the provider computes in the CPU's memory"""
    most: float
    """largest share of the CPU's time for which the provider stands before it: estimates are wrong by as much"""
    needs_sizes: bool
    """whether it is slow, or compiles anew, where sizes other than the batch are open"""


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """Times of one run, in milliseconds; sizes that only the run decides, such as a batch, count as 1."""

    cpu_ms: float
    """on the CPU alone"""
    work_ms: float
    """of that, in the nodes that the provider takes"""
    own_ms: float
    """of these nodes, on the provider"""
    calls_ms: float
    copies_ms: float
    slower: LayerKind | None = None
    """kind of the layers at which the provider loses most against the CPU; None if it loses at none"""
    slower_ms: float = 0.0
    """of these layers, on the provider"""
    slower_cpu_ms: float = 0.0
    """of these layers, on the CPU"""
    open_value: str = ""
    """a value of a layer that the provider takes, of which sizes other than the first are open; empty if there is
    none"""

    @property
    def rest_ms(self) -> float:
        """Time on the CPU of the nodes that the provider leaves."""
        return self.cpu_ms - self.work_ms

    @property
    def provider_ms(self) -> float:
        """With the provider."""
        return self.own_ms + self.rest_ms + self.calls_ms + self.copies_ms
