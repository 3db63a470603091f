"""A node of a quantized graph with the conversions around it, as ONNX Runtime's providers see it."""

from dataclasses import dataclass

from packager.graph.view import Node, Value

QUANTIZE, DEQUANTIZE = "QuantizeLinear", "DequantizeLinear"


@dataclass(frozen=True, kw_only=True)
class Quantization:
    """The quantization of a value: names of its constants."""

    scale: str
    zero_point: str = ""
    """empty if there is none, which means 0"""


@dataclass(frozen=True, kw_only=True)
class UnitPort:
    """An input or output of a unit: the value outside of it, before DequantizeLinear or after QuantizeLinear."""

    value: str
    """empty for an omitted optional input"""
    quantization: Quantization | None = None


@dataclass(frozen=True, kw_only=True)
class NodeUnit:
    target: Node
    inputs: tuple[UnitPort, ...]
    outputs: tuple[UnitPort, ...]
    dequantizers: tuple[Node, ...] = ()
    quantizers: tuple[Node, ...] = ()
    clip: Node | None = None
    """a Relu or Clip between target and QuantizeLinear, made redundant by its rounding"""

    @property
    def is_group(self) -> bool:
        """Whether DequantizeLinear or QuantizeLinear nodes belong to it."""
        return bool(self.dequantizers or self.quantizers)

    @property
    def nodes(self) -> tuple[Node, ...]:
        """Its nodes in execution order."""
        return (*self.dequantizers, self.target, *((self.clip,) if self.clip else ()), *self.quantizers)


def number(value: Value) -> float | None:
    """The first number of a constant; None if it is not a constant or was not read."""
    if value.constant is None or not value.constant.size:
        return None
    return float(value.constant.reshape(-1)[0])
